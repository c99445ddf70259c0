// Where a worker's samples come from: line 10 of Algorithm 1 asks whether there is one.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "dasgd/base/time.hpp"

namespace dasgd {

/// Samples of a data set by their numbers.
using Rows = std::span<const std::uint32_t>;

/// A mini-batch of one worker. The spans are valid until the next draw.
struct Batch {
  Rows rows;
  /// The number of this batch in the worker's whole sequence. Random draws for the batch, such as
  /// augmentation, should depend on it: they are then the same after a resume.
  std::uint64_t number = 0;
  /// Probably the rows of the next batch, which may be fetched meanwhile. Empty: not known yet.
  Rows upcoming = {};
  /// How long the computation of its gradient has already taken, if the caller computes it, as
  /// with a Peer.
  Nanoseconds under_way = 0;
};

/// What a source answers.
struct Draw : Batch {
  enum class Kind {
    batch,     ///< the rows of a mini-batch
    none_now,  ///< there is no sample, and there may be one later
    no_more,   ///< there will never be another
  };
  Kind kind = Kind::no_more;

  static Draw batch(Rows rows, std::uint64_t number = 0, Rows upcoming = {}) {
    return {{rows, number, upcoming}, Kind::batch};
  }
  static Draw none_now() { return {{}, Kind::none_now}; }
  static Draw no_more() { return {}; }
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
};

}  // namespace dasgd
