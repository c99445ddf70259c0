#include "dasgd/core/packing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/message_format.hpp"

namespace dasgd {
namespace {

constexpr int piece_bits = 32;  // written and read at once

/// Two's complement numbers as words.
template <typename Word>
int trailing_zeros(Word w) {
  if constexpr (sizeof(Word) <= 8) {
    return std::countr_zero(w);
  } else {
    const auto low = static_cast<std::uint64_t>(w);
    return low ? std::countr_zero(low) : 64 + std::countr_zero(static_cast<std::uint64_t>(w >> 64));
  }
}
template <typename Word>
int width_of(Word w) {
  if constexpr (sizeof(Word) <= 8) {
    return static_cast<int>(std::bit_width(w));
  } else {
    const auto high = static_cast<std::uint64_t>(w >> 64);
    return high ? 64 + static_cast<int>(std::bit_width(high))
                : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(w)));
  }
}
template <typename Word>
constexpr int bits_in = static_cast<int>(8 * sizeof(Word));

template <typename Word>
using SignedOf = std::conditional_t<sizeof(Word) == 16, Int128, std::int64_t>;

/// All ones for a negative number.
template <typename Word>
Word sign_of(Word w) {
  return Word{0} - static_cast<Word>(w >> (bits_in<Word> - 1));
}
/// Shifts in copies of the sign.
template <typename Word>
Word shift_right(Word w, int by) {
  return by == 0 ? w : static_cast<Word>((w >> by) | (sign_of(w) << (bits_in<Word> - by)));
}

/// Writes pieces; whoever owns the memory has left room for one piece more.
class BitWriter {
 public:
  explicit BitWriter(std::byte* to) : to_(to) {}
  void put(std::uint32_t bits, int width) {
    held_ |= static_cast<std::uint64_t>(bits) << count_;
    count_ += width;
    if (count_ < piece_bits) return;
    store();
    to_ += sizeof(std::uint32_t);
    held_ >>= piece_bits;
    count_ -= piece_bits;
  }
  std::byte* flush() {
    store();
    return to_ + (count_ + 7) / 8;
  }

 private:
  void store() {
    const auto piece = static_cast<std::uint32_t>(held_);
    std::memcpy(to_, &piece, sizeof(piece));
  }
  std::byte* to_;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

/// Reads what a BitWriter wrote, of bytes that end where they are said to.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> from) : from_(from) {}
  std::uint32_t get(int width) {
    if (count_ < width) load();
    const auto bits = static_cast<std::uint32_t>(held_ & ((std::uint64_t{1} << width) - 1));
    held_ >>= width;
    count_ -= width;
    return bits;
  }

 private:
  void load() {
    std::uint32_t piece = 0;
    const std::size_t size = std::min(from_.size(), sizeof(piece));
    std::memcpy(&piece, from_.data(), size);
    held_ |= static_cast<std::uint64_t>(piece) << count_;
    count_ += piece_bits;
    from_ = from_.subspan(size);
  }
  std::span<const std::byte> from_;
  std::uint64_t held_ = 0;
  int count_ = 0;
};

template <typename Word>
std::byte* pack_block(std::span<const Word> block, std::byte* to) {
  Word any = 0, magnitudes = 0;  // of a negative number its complement: as many bits as it needs
  for (const Word w : block) {
    any |= w;
    magnitudes |= static_cast<Word>(w ^ sign_of(w));
  }
  const int unit = any ? trailing_zeros(any) : 0;
  const int width = any ? width_of(magnitudes) - unit + 1 : 0;
  *to++ = static_cast<std::byte>(unit);
  *to++ = static_cast<std::byte>(width);
  if (width == 0) return to;
  BitWriter bits(to);
  const int first = std::min(width, piece_bits);
  const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << first) - 1);
  for (const Word w : block) {
    Word q = shift_right(w, unit);
    bits.put(static_cast<std::uint32_t>(q) & mask, first);
    if constexpr (sizeof(Word) > sizeof(std::uint32_t))
      for (int left = width - first; left > 0; left -= piece_bits) {
        q >>= piece_bits;
        const int piece = std::min(left, piece_bits);
        bits.put(static_cast<std::uint32_t>(q) &
                     static_cast<std::uint32_t>((std::uint64_t{1} << piece) - 1),
                 piece);
      }
  }
  return bits.flush();
}

constexpr int narrow = 56;  // bits that lie within the 64 from the byte with the first of them

// Each number by itself, none waits for the one before it.
template <typename Word>
void unpack_narrow(std::span<const std::byte> from, int unit, int width, std::span<Word> block) {
  std::array<std::byte, narrow / 8 * block_size + sizeof(std::uint64_t)> padded;
  std::memcpy(padded.data(), from.data(), from.size());
  const int unused = 64 - width;
  for (std::size_t k = 0; k < block.size(); ++k) {
    const std::size_t bit = k * static_cast<std::size_t>(width);
    std::uint64_t q;
    std::memcpy(&q, padded.data() + bit / 8, sizeof(q));
    q = shift_right(q >> (bit % 8) << unused, unused);
    // A narrow number of a wide word keeps its sign.
    block[k] = static_cast<Word>(
        static_cast<Word>(static_cast<SignedOf<Word>>(static_cast<std::int64_t>(q))) << unit);
  }
}

template <typename Word>
void unpack_block(std::span<const std::byte> from, int unit, int width, std::span<Word> block) {
  if (width == 0) return std::fill(block.begin(), block.end(), Word{0});
  if (width <= narrow) return unpack_narrow(from, unit, width, block);
  BitReader bits(from);
  const int first = std::min(width, piece_bits), unused = bits_in<Word> - width;
  for (Word& w : block) {
    Word q = bits.get(first);
    if constexpr (sizeof(Word) > sizeof(std::uint32_t))
      for (int got = first; got < width; got += piece_bits)
        q |= static_cast<Word>(bits.get(std::min(width - got, piece_bits))) << got;
    w = static_cast<Word>(shift_right(static_cast<Word>(q << unused), unused) << unit);
  }
}

template <typename Word>
Bytes pack_words(std::span<const std::byte> bytes) {
  const std::span words(reinterpret_cast<const Word*>(bytes.data()), bytes.size() / sizeof(Word));
  const std::size_t blocks = (words.size() + block_size - 1) / block_size;
  Bytes packed(bytes.size() + 2 * blocks + sizeof(std::uint32_t));
  std::byte* to = packed.data();
  for (std::size_t b = 0; b < words.size(); b += block_size)
    to = pack_block(words.subspan(b, std::min(block_size, words.size() - b)), to);
  packed.resize(static_cast<std::size_t>(to - packed.data()));
  return packed;
}

template <typename Word>
bool unpack_words(std::span<const std::byte> packed, std::span<std::byte> bytes) {
  const std::span words(reinterpret_cast<Word*>(bytes.data()), bytes.size() / sizeof(Word));
  for (std::size_t b = 0; b < words.size(); b += block_size) {
    const auto block = words.subspan(b, std::min(block_size, words.size() - b));
    if (packed.size() < 2) return false;
    const int unit = static_cast<int>(packed[0]), width = static_cast<int>(packed[1]);
    const std::size_t size = (block.size() * static_cast<std::size_t>(width) + 7) / 8;
    if (unit + width > bits_in<Word> || packed.size() - 2 < size) return false;
    unpack_block(packed.subspan(2, size), unit, width, block);
    packed = packed.subspan(2 + size);
  }
  return packed.empty();
}

}  // namespace

Bytes pack(std::span<const std::byte> numbers, std::size_t number_bytes) {
  if (number_bytes == 4) return pack_words<std::uint32_t>(numbers);
  return number_bytes == 8 ? pack_words<std::uint64_t>(numbers) : pack_words<UInt128>(numbers);
}

bool unpack(std::span<const std::byte> packed, std::size_t number_bytes,
            std::span<std::byte> numbers) {
  if (number_bytes == 4) return unpack_words<std::uint32_t>(packed, numbers);
  return number_bytes == 8 ? unpack_words<std::uint64_t>(packed, numbers)
                           : unpack_words<UInt128>(packed, numbers);
}

}  // namespace dasgd
