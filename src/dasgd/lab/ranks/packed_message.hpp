// A message of a rival as the bytes that ranks send each other.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/rival.hpp"

namespace dasgd {

struct MessageHeader {
  std::uint64_t to, from, version, numbers;
  double weight, share;
  std::uint32_t tag, has_numbers;
};

template <typename Real>
std::vector<std::byte> packed(std::size_t to, const RivalMessage<Real>& message) {
  const std::size_t count = message.count();
  const MessageHeader header{to,
                             message.from,
                             message.version,
                             count,
                             message.weight,
                             message.share,
                             message.tag,
                             message.numbers ? 1u : 0u};
  std::vector<std::byte> bytes(sizeof(header) + count * sizeof(Real));
  std::memcpy(bytes.data(), &header, sizeof(header));
  if (count > 0)
    std::memcpy(bytes.data() + sizeof(header), message.numbers->data(), count * sizeof(Real));
  return bytes;
}

/// Whom of so many participants it is for, and the message; nothing for malformed bytes.
template <typename Real>
std::optional<std::pair<std::size_t, RivalMessage<Real>>> unpacked(
    const std::vector<std::byte>& bytes, std::size_t participants) {
  MessageHeader header;
  if (bytes.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::size_t rest = bytes.size() - sizeof(header);
  if (rest % sizeof(Real) != 0 || header.numbers != rest / sizeof(Real)) return std::nullopt;
  if (header.has_numbers > 1 || (header.has_numbers == 0 && rest > 0)) return std::nullopt;
  if (header.to >= participants || header.from >= participants) return std::nullopt;
  if (!(header.share >= 0 && std::isfinite(header.share))) return std::nullopt;
  RivalMessage<Real> message{nullptr,       header.version, header.tag,
                             header.weight, header.from,    header.share};
  if (header.has_numbers) {
    std::vector<Real> numbers(static_cast<std::size_t>(header.numbers));
    if (rest > 0) std::memcpy(numbers.data(), bytes.data() + sizeof(header), rest);
    message.numbers = std::make_shared<const std::vector<Real>>(std::move(numbers));
  }
  return std::pair(static_cast<std::size_t>(header.to), std::move(message));
}

}  // namespace dasgd
