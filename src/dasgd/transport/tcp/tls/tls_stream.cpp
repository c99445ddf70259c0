#include "dasgd/transport/tcp/tls/tls_stream.hpp"

#include <array>
#include <cstring>
#include <memory>

#include "dasgd/transport/tcp/plain_stream.hpp"
#include "dasgd/transport/tcp/socket_calls.hpp"
#include "dasgd/transport/tcp/tls/certificates.hpp"

namespace dasgd::tcp {
namespace {

using Step = Advance::Step;

constexpr std::size_t most_held_back = 128 << 10;
constexpr std::size_t record_bytes = 16 << 10;  // of TLS, at most
constexpr std::size_t small_piece = 4 << 10;    // cheaper to copy than to have a record of its own

TlsSocket& socket_of(BIO* bio) { return *static_cast<TlsSocket*>(BIO_get_data(bio)); }

template <typename Call>
int with_retry(BIO* bio, int kind, Call&& call) {
  BIO_clear_retry_flags(bio);
  bool retry = false;
  const int result = call(socket_of(bio), retry);
  if (retry) BIO_set_flags(bio, BIO_FLAGS_SHOULD_RETRY | kind);
  return result;
}

int bio_write(BIO* bio, const char* bytes, int count) {
  return with_retry(bio, BIO_FLAGS_WRITE, [&](TlsSocket& socket, bool& retry) {
    return socket.write(bytes, count, retry);
  });
}
int bio_read(BIO* bio, char* to, int count) {
  return with_retry(bio, BIO_FLAGS_READ,
                    [&](TlsSocket& socket, bool& retry) { return socket.read(to, count, retry); });
}
long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return socket_of(bio).ended() ? 1 : 0;
  if (command != BIO_CTRL_FLUSH) return 0;
  if (socket_of(bio).keeps_all()) return 1;
  return with_retry(bio, BIO_FLAGS_WRITE,
                    [](TlsSocket& socket, bool& retry) { return socket.flush(retry); });
}
int bio_create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

const BIO_METHOD* socket_method() {
  static const auto method = [] {
    std::unique_ptr<BIO_METHOD, FreedBy<BIO_meth_free>> made(
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "dasgd socket"));
    require_ssl(made && BIO_meth_set_write(made.get(), bio_write) == 1 &&
                    BIO_meth_set_read(made.get(), bio_read) == 1 &&
                    BIO_meth_set_ctrl(made.get(), bio_control) == 1 &&
                    BIO_meth_set_create(made.get(), bio_create) == 1,
                "a BIO");
    return made;
  }();
  return method.get();
}

// The other side refuses our certificate, or the lack of one.
bool refuses_us(int reason) {
  switch (reason) {
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      return true;
    default:
      return false;
  }
}

bool is_no_tls(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
         reason == SSL_R_HTTPS_PROXY_REQUEST || reason == SSL_R_BAD_RECORD_TYPE;
}

}  // namespace

int TlsSocket::write(const char* bytes, int count, bool& retry) {
  if (!keeps_all_ && held_.size() >= most_held_back && flush(retry) < 0) return -1;
  const auto added = std::as_bytes(std::span(bytes, static_cast<std::size_t>(count)));
  held_.insert(held_.end(), added.begin(), added.end());
  return count;
}

int TlsSocket::read(char* to, int count, bool& retry) {
  const ReceivedBytes got =
      receive_some(socket_, std::as_writable_bytes(std::span(to, static_cast<std::size_t>(count))));
  ended_ = got.ended;
  error_ = got.error;
  retry = !got.ended && got.error == 0 && got.bytes == 0;
  return got.bytes > 0 ? static_cast<int>(got.bytes) : got.ended ? 0 : -1;
}

int TlsSocket::flush(bool& retry) {
  if (held_.empty()) return 1;
  iovec piece{held_.data(), held_.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  const Sent sent = send_some(socket_, message);
  error_ = sent.error;
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
  retry = sent.error == 0 && !held_.empty();
  return held_.empty() ? 1 : -1;
}

TlsStream::TlsStream(int socket, const Identity& identity, bool dialed, std::uint64_t rekey_bytes)
    : socket_(socket),
      stranger_(identity.stranger()),
      ssl_(SSL_new(identity.context())),
      rekey_bytes_(rekey_bytes) {
  BIO* const bio = BIO_new(socket_method());
  require_ssl(ssl_ && bio, "a TLS connection");
  BIO_set_data(bio, &socket_);
  SSL_set_bio(ssl_.get(), bio, bio);
  dialed ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
}

Advance TlsStream::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  return result == 1 ? Advance{} : not_done(result);
}

Advance TlsStream::read(std::span<std::byte> to) {
  ERR_clear_error();
  std::size_t got = 0;
  const int result = SSL_read_ex(ssl_.get(), to.data(), to.size(), &got);
  return result == 1 ? Advance{Step::done, got} : not_done(result);
}

Advance TlsStream::write(std::span<const iovec> pieces) {
  std::array<char, record_bytes> joined;
  std::size_t taken = 0;
  while (!pieces.empty()) {
    iovec next = pieces.front();
    pieces = pieces.subspan(1);
    if (next.iov_len <= small_piece) {
      std::size_t size = 0;
      const auto join = [&](const iovec& piece) {
        std::memcpy(joined.data() + size, piece.iov_base, piece.iov_len);
        size += piece.iov_len;
      };
      join(next);
      for (; !pieces.empty() && pieces.front().iov_len <= small_piece &&
             size + pieces.front().iov_len <= record_bytes;
           pieces = pieces.subspan(1))
        join(pieces.front());
      next = {joined.data(), size};
    }
    const Advance progress = write(next);
    taken += progress.bytes;
    if (progress.step != Step::done) return {progress.step, taken};
  }
  return {Step::done, taken};
}

Advance TlsStream::write(const iovec& piece) {
  for (std::size_t at = 0; at < piece.iov_len;) {
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_write_ex(ssl_.get(), static_cast<const char*>(piece.iov_base) + at,
                                    piece.iov_len - at, &count);
    if (result != 1) {
      Advance progress = not_done(result);
      progress.bytes = at;
      return progress;
    }
    at += count;
    since_rekey_ += count;
    if (since_rekey_ >= rekey_bytes_) renew_keys();
  }
  return {Step::done, piece.iov_len};
}

// Those of this direction. The message is made now and leaves with what is written next: left to
// OpenSSL, reading would have to send it first, and two sides that both wait for room to write
// would wait for each other to read.
void TlsStream::renew_keys() {
  if (SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) != 1) return;
  since_rekey_ = 0;
  socket_.keep_all(true);
  SSL_do_handshake(ssl_.get());
  socket_.keep_all(false);
}

Advance TlsStream::flush() {
  bool retry = false;
  if (socket_.flush(retry) == 1) return {};
  if (socket_.error() != 0) return fail(broken(socket_.error()));
  return {Step::wants_write};
}

void TlsStream::end() {
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  ERR_clear_error();
  flush();
}

PeerName TlsStream::peer() const {
  const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  return certificate ? name_in(certificate) : PeerName{};
}

Advance TlsStream::not_done(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Step::wants_read};
    case SSL_ERROR_WANT_WRITE:
      return {Step::wants_write};
    case SSL_ERROR_ZERO_RETURN:
      return {Step::ended};
    default:
      break;
  }
  if (socket_.error() != 0) return fail(broken(socket_.error()));
  if (socket_.ended()) return {Step::ended};
  const int reason = ERR_GET_REASON(ERR_peek_error());
  const std::string words = take_ssl_error();
  if (const long verdict = SSL_get_verify_result(ssl_.get()); verdict != X509_V_OK)
    return fail({.untrusted = true,
                 .why = stranger_ + " (" + X509_verify_cert_error_string(verdict) + ")"});
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
    return fail({.untrusted = true, .why = "it has no certificate"});
  if (refuses_us(reason))
    return fail({.untrusted = true, .why = "it does not accept our certificate (" + words + ")"});
  if (is_no_tls(reason)) return fail({.why = "it does not speak TLS (" + words + ")"});
  return fail({.why = "TLS failed (" + words + ")"});
}

std::unique_ptr<Stream> make_stream(int socket, const Identity& identity, bool dialed,
                                    std::uint64_t rekey_bytes) {
  if (!identity.encrypted()) return std::make_unique<PlainStream>(socket);
  return std::make_unique<TlsStream>(socket, identity, dialed, rekey_bytes);
}

}  // namespace dasgd::tcp
