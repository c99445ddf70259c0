// What links over TCP cost: a stream of frames from one process to another, against a bare loop
// over a socket and over OpenSSL. Every figure is a ratio of two things measured in turns in this
// run.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "dasgd/transport/tcp/sockets.hpp"
#include "noise.hpp"
#include "ratio.hpp"

namespace dasgd::bench {
namespace {

constexpr int warm_up = 4;  // frames

struct Stream {
  std::size_t size;  // bytes of a frame
  int count;
};

[[noreturn]] void fail(const char* what) {
  fmt::print(stderr, "tcp_stream_bench: {} failed\n", what);
  std::exit(1);
}

tcp::Identity identity(bool encrypted) {
  if (!encrypted) return tcp::Identity::plaintext();
  static const tcp::Token token = tcp::Token::random();
  return tcp::Identity::of(token, "bench", {});
}

/// Runs `child` in a process of its own; this one goes on and waits for its end.
class Child {
 public:
  explicit Child(const std::function<void()>& child) : pid_(::fork()) {
    if (pid_ < 0) fail("fork");
    if (pid_ > 0) return;
    child();
    std::_Exit(0);
  }
  ~Child() { ::waitpid(pid_, nullptr, 0); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

 private:
  pid_t pid_;
};

// A connected pair of sockets over loopback.
std::pair<int, int> connected() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0), one = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener, raw, length) != 0 || ::listen(listener, 1) != 0 ||
      ::getsockname(listener, raw, &length) != 0 || ::connect(one, raw, length) != 0)
    fail("connect");
  const int other = ::accept(listener, nullptr, nullptr);
  ::close(listener);
  for (const int socket : {one, other}) {
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  return {one, other};
}

// A loop of blocking calls. `send` and `receive` return how many bytes they moved.
template <typename Send, typename Receive>
class BareLoop {
 public:
  BareLoop(Send send, Receive receive) : send_(std::move(send)), receive_(std::move(receive)) {}

  void send_frames(std::span<const char> frame, int count) {
    for (int k = 0; k < count; ++k)
      for (std::size_t at = 0; at < frame.size();) at += moved(send_(frame.subspan(at)));
  }
  void receive_frames(std::span<char> frame, int count) {
    for (int k = 0; k < count; ++k)
      for (std::size_t at = 0; at < frame.size();) at += moved(receive_(frame.subspan(at)));
  }
  /// Seconds until the other side has all frames and has said so.
  double sender(const Stream& stream) {
    std::vector<char> frame(stream.size, 'x'), answer(1);
    send_frames(frame, warm_up);
    receive_frames(answer, 1);
    return seconds([&] {
      send_frames(frame, stream.count);
      receive_frames(answer, 1);
    });
  }
  void receiver(const Stream& stream) {
    std::vector<char> frame(stream.size), answer(1);
    for (const int count : {warm_up, stream.count}) {
      receive_frames(frame, count);
      send_frames(answer, 1);
    }
  }

 private:
  static std::size_t moved(long count) {
    if (count <= 0) fail("a bare loop");
    return static_cast<std::size_t>(count);
  }
  Send send_;
  Receive receive_;
};

double bare_sockets(const Stream& stream) {
  const auto [here, there] = connected();
  const auto loop = [](int socket) {
    return BareLoop([socket](auto from) { return ::send(socket, from.data(), from.size(), 0); },
                    [socket](auto to) { return ::recv(socket, to.data(), to.size(), 0); });
  };
  const Child child([&, there = there] { loop(there).receiver(stream); });
  ::close(there);
  const double time = loop(here).sender(stream);
  ::close(here);
  return time;
}

// The same settings as ours, with OpenSSL's own way to a socket.
double bare_openssl(const Stream& stream) {
  const auto [here, there] = connected();
  const tcp::Identity id = identity(true);
  const auto loop = [&](int socket, bool dialed) {
    SSL* const ssl = SSL_new(id.context());
    SSL_set_fd(ssl, socket);
    if ((dialed ? SSL_connect(ssl) : SSL_accept(ssl)) != 1) fail("a handshake");
    const auto bounded = [](std::size_t size) {
      return static_cast<int>(std::min<std::size_t>(size, 1 << 30));
    };
    return BareLoop(
        [=](auto from) { return long{SSL_write(ssl, from.data(), bounded(from.size()))}; },
        [=](auto to) { return long{SSL_read(ssl, to.data(), bounded(to.size()))}; });
  };
  const Child child([&, there = there] { loop(there, false).receiver(stream); });
  ::close(there);
  const double time = loop(here, true).sender(stream);
  ::close(here);
  return time;
}

// The same through Asio's TLS, which has a pair of buffers between OpenSSL and the socket.
double asio_tls(const Stream& stream) {
  namespace net = boost::asio;
  const auto [here, there] = connected();
  const tcp::Identity id = identity(true);
  SSL_CTX_up_ref(id.context());
  net::ssl::context tls(id.context());  // takes its share
  net::io_context context{1};
  const auto open = [&](int socket, auto role) {
    auto made = std::make_shared<net::ssl::stream<net::ip::tcp::socket>>(
        net::ip::tcp::socket(context, net::ip::tcp::v4(), socket), tls);
    made->handshake(role);
    return BareLoop(
        [made](auto from) {
          return static_cast<long>(net::write(*made, net::buffer(from.data(), from.size())));
        },
        [made](auto to) {
          return static_cast<long>(net::read(*made, net::buffer(to.data(), to.size())));
        });
  };
  const Child child(
      [&, there = there] { open(there, net::ssl::stream_base::server).receiver(stream); });
  ::close(there);
  const double time = open(here, net::ssl::stream_base::client).sender(stream);
  SSL_CTX_set_app_data(id.context(), nullptr);  // ours, which Asio would delete as its own
  return time;
}

/// One side of our links: sends frames, counts those that come.
class Side final : public tcp::LinkEvents, public FrameSink {
 public:
  explicit Side(bool encrypted, std::size_t size)
      : body_(std::make_shared<std::vector<std::byte>>(size)),
        sockets(context_, identity(encrypted), *this) {}

  void send(std::size_t bytes) {
    sockets.send(*link_, Bytes(64), std::span(*body_).first(bytes), body_);
  }
  void wait_for(int frames) {
    while (!link_ || received_ < frames) context_.run_one();
  }
  void wait_for_the_end() {
    while (link_) context_.run_one();
  }

  FrameSink& linked(LinkId link, bool, const std::string&) override {
    link_ = link;
    return *this;
  }
  void dial_failed(LinkId, tcp::DialFailure, const std::string&) override { fail("a dial"); }
  std::optional<std::span<std::byte>> body(LinkId, std::span<const std::byte>, std::uint64_t bytes,
                                           Nanoseconds) override {
    return std::span(*body_).first(bytes);
  }
  void received(LinkId, std::span<const std::byte>, Nanoseconds) override { ++received_; }
  void drained(LinkId) override {}
  void lost(LinkId, tcp::Loss, const std::string&) override { link_.reset(); }

 private:
  boost::asio::io_context context_{1};
  std::shared_ptr<std::vector<std::byte>> body_;
  std::optional<LinkId> link_;
  int received_ = 0;

 public:
  tcp::Sockets sockets;
};

double our_links(const Stream& stream, bool encrypted) {
  int pipe[2];
  if (::pipe(pipe) != 0) fail("pipe");
  identity(encrypted);  // both have one token
  const Child child([&] {
    Side side(encrypted, stream.size);
    std::string address = side.sockets.listen("127.0.0.1:0");
    address.resize(64);
    if (::write(pipe[1], address.data(), 64) != 64) fail("pipe");
    side.wait_for(warm_up);
    side.send(1);
    side.wait_for(warm_up + stream.count);
    side.send(1);
    side.wait_for_the_end();
  });
  std::string address(64, '\0');
  if (::read(pipe[0], address.data(), 64) != 64) fail("pipe");
  address.resize(address.find('\0'));
  for (const int end : pipe) ::close(end);
  Side side(encrypted, stream.size);
  side.sockets.dial(address);
  side.wait_for(0);
  for (int k = 0; k < warm_up; ++k) side.send(stream.size);
  side.wait_for(1);
  const double time = seconds([&] {
    for (int k = 0; k < stream.count; ++k) side.send(stream.size);
    side.wait_for(2);
  });
  return time;
}

// Seconds of this process and of its children that have ended, on all cores.
double processor_time() {
  double time = 0;
  for (const int whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(whose, &usage);
    for (const timeval& t : {usage.ru_utime, usage.ru_stime})
      time += static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  }
  return time;
}

// What one way to send takes: of the clock, and of the processor on both sides together, which is
// what is left to compare when the machine is busy.
struct Costs {
  template <typename Run>
  void measure(Run&& run) {
    const double before = processor_time();
    clock.push_back(run());
    processor.push_back(processor_time() - before);
  }
  std::string against(const Costs& bare) const {
    return fmt::format("{:.2f} ({:.2f})", median(bare.clock) / median(clock),
                       median(bare.processor) / median(processor));
  }
  std::vector<double> clock, processor;
};

void streams() {
  fmt::print("speed against the bare loop; in brackets, bytes per second of the processor\n");
  for (const double megabytes : {0.5, 4.0, 64.0}) {
    const Stream stream{.size = static_cast<std::size_t>(megabytes * 1e6),
                        .count = std::max(static_cast<int>(400 / megabytes), 6)};
    Costs bare, links, bare_tls, asio, links_tls;
    for (int turn = 0; turn < 5; ++turn) {
      bare.measure([&] { return bare_sockets(stream); });
      links.measure([&] { return our_links(stream, false); });
      bare_tls.measure([&] { return bare_openssl(stream); });
      asio.measure([&] { return asio_tls(stream); });
      links_tls.measure([&] { return our_links(stream, true); });
    }
    const double gigabytes = static_cast<double>(stream.size) * stream.count / 1e9;
    fmt::print(
        "stream of {:>4} MB: bare sockets {:.2f} GB/s, links {}; bare OpenSSL {:.2f} GB/s, links "
        "with TLS {}, Asio's TLS {}\n",
        megabytes, gigabytes / median(bare.clock), links.against(bare),
        gigabytes / median(bare_tls.clock), links_tls.against(bare_tls), asio.against(bare_tls));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace dasgd::bench

int main() {
  const dasgd::bench::Noise noise;
  dasgd::bench::streams();
  fmt::print("{}", noise.report());
}
