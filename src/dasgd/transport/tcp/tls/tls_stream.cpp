#include "dasgd/transport/tcp/tls/tls_stream.hpp"

#include <array>
#include <cerrno>
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

// Where OpenSSL writes: a BIO that keeps everything. The one that comes with OpenSSL fills its
// memory with zeros before and after.
int keep(BIO* bio, const char* bytes, int count) {
  auto& held = *static_cast<std::vector<char>*>(BIO_get_data(bio));
  held.insert(held.end(), bytes, bytes + count);
  return count;
}
long answer(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

BIO* keeping(std::vector<char>& held) {
  static const auto method = [] {
    std::unique_ptr<BIO_METHOD, FreedBy<BIO_meth_free>> made(
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "kept bytes"));
    require_ssl(made && BIO_meth_set_write(made.get(), keep) == 1 &&
                    BIO_meth_set_ctrl(made.get(), answer) == 1,
                "a BIO");
    return made;
  }();
  BIO* const bio = BIO_new(method.get());
  if (!bio) return nullptr;
  BIO_set_data(bio, &held);
  BIO_set_init(bio, 1);
  return bio;
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

TlsStream::TlsStream(int socket, const Identity& identity, bool dialed, std::uint64_t rekey_bytes)
    : socket_(socket),
      stranger_(identity.stranger()),
      by_token_(identity.is_by_token()),
      ssl_(SSL_new(identity.context())),
      rekey_bytes_(rekey_bytes) {
  BIO *const in = BIO_new_socket(socket, BIO_NOCLOSE), *const out = keeping(held_);
  require_ssl(ssl_ && in && out, "a TLS connection");
  SSL_set_bio(ssl_.get(), in, out);
  dialed ? SSL_set_connect_state(ssl_.get()) : SSL_set_accept_state(ssl_.get());
}

Advance TlsStream::handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  const Advance progress = result == 1 ? Advance{} : not_done(result);
  if (progress.step == Step::failed) return progress;
  const Advance flushed = flush();
  return flushed.step == Step::done ? progress : flushed;
}

Advance TlsStream::read(std::span<std::byte> to) {
  if (held_back() > 2 * most_held_back)  // answers to what it sends
    return fail({.why = "it asks for new keys and does not read"});
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
    if (held_back() >= most_held_back)
      if (const Advance left = flush(); left.step != Step::done) return {left.step, at};
    ERR_clear_error();
    std::size_t count = 0;
    const int result = SSL_write_ex(ssl_.get(), static_cast<const char*>(piece.iov_base) + at,
                                    piece.iov_len - at, &count);
    if (result != 1) {
      const Advance progress = not_done(result);
      if (progress.step != Step::wants_read) return {progress.step, at};
      return {fail({.why = "it sends messages of TLS in pieces"}).step, at};
    }
    at += count;
    since_rekey_ += count;
    // Those of this direction; the message leaves with what is written or read next.
    if (since_rekey_ >= rekey_bytes_ &&
        SSL_key_update(ssl_.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1)
      since_rekey_ = 0;
  }
  return {Step::done, piece.iov_len};
}

Advance TlsStream::flush() {
  if (held_.empty()) return {};
  iovec piece{held_.data(), held_.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  const Sent sent = send_some(socket_, message);
  if (sent.error != 0) return fail(broken(sent.error));
  held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
  return {held_.empty() ? Step::done : Step::wants_write};
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
  const int error = errno;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {Step::wants_read};
    case SSL_ERROR_ZERO_RETURN:
      return {Step::ended};
    case SSL_ERROR_SYSCALL:
      return fail(broken(error));
    default:
      break;
  }
  if (BIO_eof(SSL_get_rbio(ssl_.get()))) return {Step::ended};
  const int reason = ERR_GET_REASON(ERR_peek_error());
  const std::string words = take_ssl_error();
  flush();  // it hears why
  if (const long verdict = SSL_get_verify_result(ssl_.get()); verdict != X509_V_OK)
    return fail({.untrusted = true,
                 .why = stranger_ + " (" + X509_verify_cert_error_string(verdict) + ")"});
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE)
    return fail({.untrusted = true, .why = "it has no certificate"});
  if (refuses_us(reason)) {
    const bool other_token = by_token_ && reason == SSL_R_TLSV1_ALERT_UNKNOWN_CA;
    return fail({.untrusted = true,
                 .why = "it does not accept our certificate" +
                        (other_token ? "; perhaps " + stranger_ : "") + " (" + words + ")"});
  }
  if (is_no_tls(reason)) return fail({.why = "it does not speak TLS (" + words + ")"});
  return fail({.why = "TLS failed (" + words + ")"});
}

std::unique_ptr<Stream> make_stream(int socket, const Identity& identity, bool dialed,
                                    std::uint64_t rekey_bytes) {
  if (!identity.encrypted()) return std::make_unique<PlainStream>(socket);
  return std::make_unique<TlsStream>(socket, identity, dialed, rekey_bytes);
}

}  // namespace dasgd::tcp
