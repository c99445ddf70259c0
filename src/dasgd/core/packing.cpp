#include "dasgd/core/packing.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "dasgd/core/message_format.hpp"

namespace dasgd {
namespace {

/// Appends numbers of up to 32 bits.
class BitWriter {
 public:
  explicit BitWriter(Bytes& to) : to_(to) {}
  void put(std::uint32_t bits, int width) {
    held_ |= static_cast<std::uint64_t>(bits) << count_;
    for (count_ += width; count_ >= 8; count_ -= 8, held_ >>= 8)
      to_.push_back(static_cast<std::byte>(held_));
  }
  void flush() {
    if (count_ > 0) to_.push_back(static_cast<std::byte>(held_));
    held_ = 0;
    count_ = 0;
  }

 private:
  Bytes& to_;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

/// Reads what a BitWriter wrote; the caller knows that it is there.
class BitReader {
 public:
  explicit BitReader(const std::byte* from) : from_(from) {}
  std::uint32_t get(int width) {
    for (; count_ < width; count_ += 8) held_ |= static_cast<std::uint64_t>(*from_++) << count_;
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    const auto bits = static_cast<std::uint32_t>(held_ & mask);
    held_ >>= width;
    count_ -= width;
    return bits;
  }

 private:
  const std::byte* from_;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

template <typename Number>
void pack_block(std::span<const Number> block, Bytes& to) {
  using Bits = std::make_unsigned_t<Number>;
  Bits any = 0, magnitudes = 0;  // of a negative number its complement: as many bits as it needs
  for (const Number n : block) {
    any |= static_cast<Bits>(n);
    magnitudes |= static_cast<Bits>(n < 0 ? ~n : n);
  }
  const int unit = any ? std::countr_zero(any) : 0;
  const int width = any ? static_cast<int>(std::bit_width(magnitudes)) - unit + 1 : 0;
  to.push_back(static_cast<std::byte>(unit));
  to.push_back(static_cast<std::byte>(width));
  BitWriter bits(to);
  for (const Number n : block) {
    const auto q = static_cast<std::uint64_t>(static_cast<std::int64_t>(n >> unit));
    bits.put(static_cast<std::uint32_t>(width >= 32 ? q : q & ((std::uint64_t{1} << width) - 1)),
             std::min(width, 32));
    if (width > 32)
      bits.put(static_cast<std::uint32_t>((q >> 32) & ((std::uint64_t{1} << (width - 32)) - 1)),
               width - 32);
  }
  bits.flush();
}

template <typename Number>
void unpack_block(const std::byte* from, int unit, int width, std::span<Number> block) {
  BitReader bits(from);
  for (Number& n : block) {
    std::uint64_t q = bits.get(std::min(width, 32));
    if (width > 32) q |= static_cast<std::uint64_t>(bits.get(width - 32)) << 32;
    const int unused = 64 - width;  // fills up with the sign
    const auto value = width == 0 ? 0 : static_cast<std::int64_t>(q << unused) >> unused;
    n = static_cast<Number>(static_cast<std::uint64_t>(value) << unit);
  }
}

template <typename Number>
Bytes pack_numbers(std::span<const std::byte> bytes) {
  const std::span numbers(reinterpret_cast<const Number*>(bytes.data()),
                          bytes.size() / sizeof(Number));
  Bytes packed;
  packed.reserve(bytes.size() / 2);
  for (std::size_t b = 0; b < numbers.size(); b += block_size)
    pack_block(numbers.subspan(b, std::min(block_size, numbers.size() - b)), packed);
  return packed;
}

template <typename Number>
bool unpack_numbers(std::span<const std::byte> packed, std::span<std::byte> bytes) {
  const std::span numbers(reinterpret_cast<Number*>(bytes.data()), bytes.size() / sizeof(Number));
  for (std::size_t b = 0; b < numbers.size(); b += block_size) {
    const auto block = numbers.subspan(b, std::min(block_size, numbers.size() - b));
    if (packed.size() < 2) return false;
    const int unit = static_cast<int>(packed[0]), width = static_cast<int>(packed[1]);
    const std::size_t size = (block.size() * static_cast<std::size_t>(width) + 7) / 8;
    if (unit + width > static_cast<int>(8 * sizeof(Number)) || packed.size() - 2 < size)
      return false;
    unpack_block(packed.data() + 2, unit, width, block);
    packed = packed.subspan(2 + size);
  }
  return packed.empty();
}

}  // namespace

Bytes pack(std::span<const std::byte> numbers, NumberFormat format) {
  return format == NumberFormat::of_float ? pack_numbers<Number<float>>(numbers)
                                          : pack_numbers<Number<double>>(numbers);
}

bool unpack(std::span<const std::byte> packed, NumberFormat format, std::span<std::byte> numbers) {
  return format == NumberFormat::of_float ? unpack_numbers<Number<float>>(packed, numbers)
                                          : unpack_numbers<Number<double>>(packed, numbers);
}

}  // namespace dasgd
