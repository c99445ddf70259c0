// Rows of numbers as a file has them, wherever they are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "dasgd/data/wide_loops.hpp"

namespace dasgd {

/// Raw numbers: nothing is shifted or scaled. NaN is a number that is missing. Any number of
/// threads may read.
class NumberRows {
 public:
  virtual ~NumberRows() = default;

  virtual std::size_t rows() const = 0;
  /// Numbers per row.
  virtual std::size_t width() const = 0;
  /// Writes the numbers of one row.
  virtual void copy(std::size_t row, std::span<float> to) const = 0;
  /// Whether a number may be NaN or infinite.
  virtual bool may_miss() const { return true; }
  /// A row is read next, after others that are asked for in the same way: where it comes from a
  /// disk, or from memory that is far away, all of them come at once.
  virtual void fetch(std::size_t /*row*/) const {}
  /// Rows from `first` to `last` will not be read again soon: their memory may go.
  virtual void release(std::size_t /*first*/, std::size_t /*last*/) const {}
  /// From now on rows are read here and there: what lies around them need not be fetched as well.
  virtual void expect_any_order() const {}
};

/// Rows in memory, of floats or of bytes.
template <typename Number>
class MemoryRows final : public NumberRows {
 public:
  MemoryRows(std::vector<Number> numbers, std::size_t width)
      : numbers_(std::move(numbers)), width_(width) {}

  std::size_t rows() const override { return numbers_.size() / width_; }
  std::size_t width() const override { return width_; }
  void copy(std::size_t row, std::span<float> to) const override {
    const std::span from(numbers_.data() + row * width_, width_);
    if constexpr (std::is_same_v<Number, std::uint8_t>)
      widen(from, to.data());
    else
      std::copy(from.begin(), from.end(), to.begin());
  }
  bool may_miss() const override { return !std::is_integral_v<Number>; }
  /// Rows of a batch lie anywhere: without this each one is waited for. The processor goes on by
  /// itself in a long row.
  void fetch(std::size_t row) const override {
    constexpr std::size_t line = 64, most = 2048;
    const auto* const from = reinterpret_cast<const char*>(numbers_.data() + row * width_);
    const std::size_t bytes = std::min(width_ * sizeof(Number), most);
    for (std::size_t at = 0; at < bytes; at += line) __builtin_prefetch(from + at);
  }

 private:
  const std::vector<Number> numbers_;
  const std::size_t width_;
};

using FloatRows = MemoryRows<float>;
using ByteRows = MemoryRows<std::uint8_t>;

}  // namespace dasgd
