// Messages of TLS that do not come in one piece. dasgd sends none such; others may.
#include <cstdlib>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "dasgd/transport/tcp/frame.hpp"
#include "tcp/node.hpp"
#include "tcp/pki.hpp"

namespace dasgd::tcp {
namespace {

using test::Pki;
using ::testing::HasSubstr;

/// Takes one connection, and decides which bytes of TLS leave when.
class RawServer {
 public:
  RawServer(const Pki& pki, const std::string& member)
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
        ssl_(nullptr, SSL_free),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    SSL_CTX* const c = context_.get();
    SSL_CTX_use_certificate_chain_file(c, pki.certificate(member).c_str());
    SSL_CTX_use_PrivateKey_file(c, pki.key(member).c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_load_verify_file(c, pki.authority().c_str());
    SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_session_id_context(c, reinterpret_cast<const unsigned char*>("t"), 1);
    SSL_CTX_set_num_tickets(c, 0);
    SSL_CTX_set_max_send_fragment(c, 512);
    SSL_CTX_set_session_ticket_cb(c, pad_ticket, nullptr, nullptr);
    ssl_.reset(SSL_new(c));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_accept_state(ssl_.get());
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() {
    ::close(listener_);
    if (socket_ >= 0) ::close(socket_);
  }
  const std::string& address() const { return address_; }

  /// Takes what has come and answers it; true once the handshake is over.
  bool shakes_hands() {
    if (socket_ < 0) socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    char bytes[4096];
    for (ssize_t got; socket_ >= 0 && (got = ::recv(socket_, bytes, sizeof bytes, 0)) > 0;)
      BIO_write(SSL_get_rbio(ssl_.get()), bytes, static_cast<int>(got));
    const bool is_over = SSL_do_handshake(ssl_.get()) == 1;
    send(made());
    return is_over;
  }
  void say(std::span<const std::byte> bytes) {
    EXPECT_EQ(SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())),
              static_cast<int>(bytes.size()));
    send(made());
  }
  /// The first record of a message of TLS that takes several.
  void begin_a_message() {
    EXPECT_EQ(SSL_new_session_ticket(ssl_.get()), 1);
    EXPECT_EQ(SSL_do_handshake(ssl_.get()), 1);
    const std::string all = made();
    const auto length = [&](std::size_t at) {
      return std::size_t{static_cast<unsigned char>(all.at(at))};
    };
    const std::size_t first = 5 + 256 * length(3) + length(4);
    EXPECT_LT(first, all.size());
    send(all.substr(0, first));
  }

 private:
  static int pad_ticket(SSL* ssl, void*) {
    const std::string padding(2000, '\0');
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), padding.data(), padding.size());
  }
  std::string made() {
    std::string bytes(BIO_ctrl_pending(SSL_get_wbio(ssl_.get())), '\0');
    if (!bytes.empty())
      BIO_read(SSL_get_wbio(ssl_.get()), bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }
  void send(const std::string& bytes) {
    if (bytes.empty()) return;
    EXPECT_EQ(::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  const int listener_;
  int socket_ = -1;
  std::string address_;
};

// OpenSSL writes nothing until it has read the rest: the link would wait for its next frame.
TEST(Pieces, OfAMessageOfTlsEndTheLinkWhereSomethingIsToBeSent) {
  test::TemporaryDirectory directory;
  Pki pki(directory, "ours");
  pki.certify("one");
  pki.certify("two");
  RawServer one(pki, "one");
  boost::asio::io_context context{1};
  test::Node two(context,
                 Identity::own_pki(pki.certificate("two"), pki.key("two"), pki.authority()));
  const LinkId link = two.sockets.dial(one.address());
  ASSERT_TRUE(test::until(context, [&] { return one.shakes_hands(); }));
  one.say(frame_head({}, {}));
  ASSERT_TRUE(test::until(context, [&] { return two.links.count(link) == 1; }));
  one.begin_a_message();
  for (int turn = 0; turn < 600 && !two.has_lost(link); ++turn) {
    context.restart();
    context.run_for(
        std::chrono::milliseconds(50));  // the piece has been read by then, or next time
    if (turn < 20) two.say(link, "hello");
  }
  ASSERT_TRUE(two.has_lost(link));
  EXPECT_EQ(two.links[link].loss, Loss::failed);
  EXPECT_THAT(two.links[link].why, HasSubstr("messages of TLS in pieces"));
}

}  // namespace
}  // namespace dasgd::tcp
