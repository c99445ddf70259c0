// States as bytes, for checkpoints and messages between processes of one kind of machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace dasgd {

static_assert(std::endian::native == std::endian::little, "bytes are written little-endian");

using Bytes = std::vector<std::byte>;

/// Appends numbers, texts and arrays; `ByteReader` reads them in the same order.
class ByteWriter {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void number(const T& value) { raw(std::as_bytes(std::span(&value, 1))); }
  template <typename T>
  void array(std::span<const T> values) {
    number<std::uint64_t>(values.size());
    raw(std::as_bytes(values));
  }
  void text(std::string_view value) { array(std::span(value.data(), value.size())); }

  const Bytes& bytes() const { return bytes_; }
  Bytes take() { return std::move(bytes_); }

 private:
  void raw(std::span<const std::byte> bytes);
  Bytes bytes_;
};

/// Reads what a `ByteWriter` wrote. Bytes that end too early make `ok` false and everything read
/// from then on empty or zero; nothing is ever read beyond the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <typename T>
  requires std::is_trivially_copyable_v<T> T number() {
    T value{};
    if (const auto from = raw(sizeof(T))) std::memcpy(&value, from->data(), sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> array() {
    const auto count = number<std::uint64_t>();
    if (count > left_.size() / sizeof(T)) {
      ok_ = false;
      return {};
    }
    std::vector<T> values(count);
    const auto from = raw(count * sizeof(T));
    if (from && !from->empty()) std::memcpy(values.data(), from->data(), from->size());
    return values;
  }
  std::string text() {
    const auto characters = array<char>();
    return {characters.begin(), characters.end()};
  }

  bool ok() const { return ok_; }
  /// The caller found what was read to be wrong.
  void fail() { ok_ = false; }
  /// Everything was there, and nothing more.
  bool ended_well() const { return ok_ && left_.empty(); }

 private:
  std::optional<std::span<const std::byte>> raw(std::size_t count) {
    if (!ok_ || count > left_.size()) {
      ok_ = false;
      return std::nullopt;
    }
    const auto bytes = left_.first(count);
    left_ = left_.subspan(count);
    return bytes;
  }

  std::span<const std::byte> left_;
  bool ok_ = true;
};

}  // namespace dasgd
