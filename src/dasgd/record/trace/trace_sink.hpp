// Where the applications of a run are handed in.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/staleness/trace_line.hpp"

namespace dasgd {

/// Takes what workers did, a piece at a time. Any thread may call any of this.
class ApplicationSink {
 public:
  virtual ~ApplicationSink() = default;
  /// `worker` did `lines`, in this order, and will do nothing more before `up_to`. May wait for the
  /// disk, never for another worker.
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
  /// Why writing has failed (a full disk), where a run is to fail for it; null if it has not.
  virtual std::exception_ptr failure() const = 0;
};

}  // namespace dasgd
