// Where a worker's samples come from: line 10 of Algorithm 1 asks whether there is one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace dasgd {

/// What a source answers.
struct Draw {
  enum class Kind {
    batch,     ///< the rows of a mini-batch
    none_now,  ///< there is no sample, and there may be one later
    no_more,   ///< there will never be another
  };
  Kind kind = Kind::no_more;
  std::span<const std::uint32_t> rows;  ///< valid until the next call

  static Draw batch(std::span<const std::uint32_t> rows) { return {Kind::batch, rows}; }
  static Draw none_now() { return {Kind::none_now, {}}; }
  static Draw no_more() { return {Kind::no_more, {}}; }
};

/// One worker's samples. Called by that worker's thread only, except where said otherwise.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// The next mini-batch. Never blocks: a worker without a sample goes on applying.
  virtual Draw next() = 0;
  /// Called once, before the first `next`: a source that has said `none_now` calls `wake`, from any
  /// thread, when it is worth asking again.
  virtual void on_arrival(std::function<void()> /*wake*/) {}
  /// The number of the batch that `next` gave last in the worker's whole sequence.
  virtual std::uint64_t position() const { return 0; }
  /// The rows that the next call of `next` will probably give, where they are known already.
  virtual std::optional<std::span<const std::uint32_t>> upcoming() { return std::nullopt; }
};

}  // namespace dasgd
