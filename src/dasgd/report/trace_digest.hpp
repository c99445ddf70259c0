// A trace of any length in bounded memory: what the charts of a report need.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/staleness/trace_line.hpp"

namespace dasgd::report {

/// How much a digest keeps. What does not fit is merged, never dropped, except where it says so.
struct DigestLimits {
  std::size_t buckets = 1024;   ///< moments over time; their width doubles as the run goes on
  std::size_t groups = 64;      ///< of neighbouring workers; each is one worker up to this many
  std::size_t rows = 64;        ///< time lines: every second worker is left out beyond this
  std::size_t bars = 100'000;   ///< intervals of computing, over all time lines
  std::size_t ticks = 100'000;  ///< instants of applying, over all time lines
  bool latest = false;          ///< time lines forget what is old instead of merging
};

/// Minimum, maximum and mean: what must survive when values are put together.
struct Extent {
  std::uint64_t count = 0, least = 0, most = 0;
  double sum = 0;

  void add(std::uint64_t value);
  void merge(const Extent& other);
  double mean() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
};

/// A piece of time.
struct Moment {
  Extent S;
  std::vector<std::uint32_t> computed, applied;  ///< per group of workers
};

/// Computing without a break longer than the digest's resolution.
struct Bar {
  Nanoseconds start = 0, end = 0;
  Nanoseconds busy = 0;  ///< of it really computing
};

/// Foreign gradients applied at one instant, or within the resolution.
struct Tick {
  Nanoseconds time = 0;
  std::uint32_t count = 0;
};

struct TimeLine {
  std::size_t worker = 0;
  std::deque<Bar> bars;
  std::deque<Tick> ticks;
};

/// Takes the applications of each worker in their order; workers may come in any interleaving.
class TraceDigest {
 public:
  explicit TraceDigest(const DigestLimits& limits = {}) : limits_(limits) {}

  /// The line has its time and S.
  void add(const TraceLine& line);

  std::uint64_t applications() const { return applications_; }
  std::uint64_t gradients() const { return gradients_; }
  std::size_t workers() const { return workers_; }  ///< the highest number seen, and one
  Nanoseconds end() const { return end_; }          ///< the latest application

  Nanoseconds bucket_width() const { return Nanoseconds{1} << shift_; }
  const std::vector<Moment>& moments() const { return moments_; }
  const std::map<std::uint64_t, std::uint64_t>& histogram() const { return histogram_; }

  std::size_t workers_per_group() const { return group_; }
  std::size_t groups() const { return (workers_ + group_ - 1) / group_; }
  /// |S| of what the workers of one group applied of the gradients of another.
  const Extent& heat(std::size_t group, std::size_t origin_group) const {
    return heat_[group][origin_group];
  }

  const std::vector<TimeLine>& time_lines() const { return lines_; }
  std::size_t workers_per_line() const { return stride_; }
  /// Breaks shorter than this between two gradients are not kept; 0 if all are.
  Nanoseconds resolution() const { return resolution_; }
  /// Time lines are whole from here on; 0 unless old bars and ticks are forgotten.
  Nanoseconds whole_since() const { return whole_since_; }

 private:
  void make_room_for(std::size_t worker);
  Moment& moment(Nanoseconds time);
  void draw(const TraceLine& line);
  TimeLine* line_of(std::size_t worker);
  void coarsen();

  DigestLimits limits_;
  std::uint64_t applications_ = 0, gradients_ = 0;
  std::size_t workers_ = 0;
  Nanoseconds end_ = 0;
  int shift_ = 10;  // buckets of 1,024 ns at first
  std::vector<Moment> moments_;
  std::map<std::uint64_t, std::uint64_t> histogram_;
  std::size_t group_ = 1;
  std::vector<std::vector<Extent>> heat_;
  std::size_t stride_ = 1;
  std::vector<TimeLine> lines_;
  std::size_t bars_ = 0, ticks_ = 0;
  Nanoseconds resolution_ = 0, whole_since_ = 0;
};

}  // namespace dasgd::report
