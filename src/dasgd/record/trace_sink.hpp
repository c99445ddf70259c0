// Where the applications of a run are handed in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dasgd/core/names.hpp"
#include "dasgd/core/time.hpp"

namespace dasgd {

/// One application, as it is written.
struct TraceLine {
  WorkerId worker{};
  std::uint64_t step = 0;
  GradientName name;
  std::uint64_t origin_step = 0;
  Nanoseconds time = 0;
  std::optional<Nanoseconds> start;
  std::uint64_t S = 0;
  std::optional<std::uint64_t> S_hat;
};

/// Takes what workers did, a piece at a time. Any thread may call any of this.
class ApplicationSink {
 public:
  virtual ~ApplicationSink() = default;
  /// `worker` did `lines`, in this order, and will do nothing more before `up_to`.
  virtual void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) = 0;
  /// So many lines were left out on their way here, which only happens to sinks that show and do
  /// not keep.
  virtual void leave_out(std::uint64_t /*lines*/) {}
};

/// One that keeps them.
class TraceSink : public ApplicationSink {
 public:
  /// How many workers may hand in.
  virtual std::size_t sources() const = 0;
  /// Whether writing has failed (a full disk).
  virtual bool failed() const = 0;
};

}  // namespace dasgd
