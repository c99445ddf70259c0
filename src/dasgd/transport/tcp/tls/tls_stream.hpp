// Bytes through TLS: OpenSSL on the socket itself, without a pair of buffers in between.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dasgd/transport/tcp/stream.hpp"
#include "dasgd/transport/tcp/tls/openssl.hpp"

namespace dasgd::tcp {

/// The socket as OpenSSL sees it. Records are gathered, so that many leave with one call.
class TlsSocket {
 public:
  explicit TlsSocket(int socket) : socket_(socket) {}

  // As a BIO wants it: a count, or -1; `retry` says whether waiting helps.
  int write(const char* bytes, int count, bool& retry);
  int read(char* to, int count, bool& retry);
  /// 1, or -1 while the kernel has no room or the socket has failed.
  int flush(bool& retry);
  /// Whether what is written is only kept, however much it is, until this is over.
  void keep_all(bool keep) { keeps_all_ = keep; }
  bool keeps_all() const { return keeps_all_; }

  std::size_t held_back() const { return held_.size(); }
  bool ended() const { return ended_; }
  int error() const { return error_; }

 private:
  int socket_;
  std::vector<std::byte> held_;  // whole records and the rest of one
  bool keeps_all_ = false, ended_ = false;
  int error_ = 0;
};

class TlsStream final : public Stream {
 public:
  TlsStream(int socket, const Identity& identity, bool dialed, std::uint64_t rekey_bytes);

  Advance handshake() override;
  Advance read(std::span<std::byte> to) override;
  Advance write(std::span<const iovec> pieces) override;
  Advance flush() override;
  std::size_t held_back() const override { return socket_.held_back(); }
  void end() override;
  PeerName peer() const override;

 private:
  Advance not_done(int result);
  Advance write(const iovec& piece);
  void renew_keys();

  TlsSocket socket_;
  std::string stranger_;
  SslPtr ssl_;
  const std::uint64_t rekey_bytes_;
  std::uint64_t since_rekey_ = 0;
};

}  // namespace dasgd::tcp
