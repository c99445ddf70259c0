// Bytes as they are.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dasgd/transport/tcp/stream.hpp"

namespace dasgd::tcp {

class PlainStream final : public Stream {
 public:
  explicit PlainStream(int socket) : socket_(socket) {}

  Advance handshake() override { return {}; }
  Advance read(std::span<std::byte> to) override;
  Advance write(std::span<const iovec> pieces) override;
  Advance flush() override { return {}; }
  std::size_t held_back() const override { return 0; }
  void end() override {}
  PeerName peer() const override { return {}; }

 private:
  Advance receive(std::span<std::byte> to);

  int socket_;
  std::vector<std::byte> buffer_;  // of small reads
  std::span<const std::byte> ahead_;
};

}  // namespace dasgd::tcp
