// Bytes through TLS.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dasgd/transport/tcp/stream.hpp"
#include "dasgd/transport/tcp/tls/openssl.hpp"

namespace dasgd::tcp {

/// OpenSSL reads from the socket and writes to memory, from where many records leave with one call
/// that raises no signal. So reading never waits for something to be written, nor the other way
/// round. Between two pieces of a message of TLS itself OpenSSL does not write. dasgd sends such
/// messages in one piece; if another program does not, writing fails.
class TlsStream final : public Stream {
 public:
  TlsStream(int socket, const Identity& identity, bool dialed, std::uint64_t rekey_bytes);

  Advance handshake() override;
  Advance read(std::span<std::byte> to) override;
  Advance write(std::span<const iovec> pieces) override;
  Advance flush() override;
  std::size_t held_back() const override { return held_.size(); }
  void end() override;
  PeerName peer() const override;

 private:
  Advance not_done(int result);
  Advance write(const iovec& piece);

  const int socket_;
  const std::string stranger_;
  const bool by_token_;
  std::vector<char> held_;  // whole records and the rest of one
  SslPtr ssl_;
  const std::uint64_t rekey_bytes_;
  std::uint64_t since_rekey_ = 0;
};

}  // namespace dasgd::tcp
