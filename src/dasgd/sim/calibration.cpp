#include "dasgd/sim/calibration.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

using Timeline = std::vector<const TraceLine*>;  // of one worker, by step

bool own(const TraceLine& a) { return a.worker == a.name.origin; }

std::vector<Timeline> timelines(const std::vector<TraceLine>& trace) {
  std::vector<Timeline> result;
  for (const TraceLine& a : trace) {
    if (!a.time || (own(a) && !a.start))
      throw InputError(fmt::format("line {}: has no time; nothing can be measured", a.line));
    if (index(a.worker) >= trace.size())
      throw InputError(fmt::format("line {}: worker {} of a trace of {} lines", a.line,
                                   index(a.worker), trace.size()));
    if (index(a.worker) >= result.size()) result.resize(index(a.worker) + 1);
    result[index(a.worker)].push_back(&a);
  }
  for (Timeline& line : result)
    std::sort(line.begin(), line.end(), [](auto* a, auto* b) { return a->step < b->step; });
  return result;
}

Nanoseconds median(std::vector<Nanoseconds> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Until its last own gradient a worker never waits: a foreign application begins where the event
// before it ended. Gradients that were applied in one pass share its time.
Nanoseconds time_to_apply(const std::vector<Timeline>& workers) {
  std::vector<Nanoseconds> times;
  for (const Timeline& line : workers) {
    const auto last_own = std::find_if(line.rbegin(), line.rend(), [](auto* a) { return own(*a); });
    const auto active = static_cast<std::size_t>(line.rend() - last_own);
    for (std::size_t k = 1; k < active; ++k) {
      if (own(*line[k])) continue;
      std::size_t together = 1;
      while (k + together < active && *line[k + together]->time == *line[k]->time) ++together;
      times.push_back((*line[k]->time - *line[k - 1]->time) / static_cast<Nanoseconds>(together));
      k += together - 1;
    }
  }
  return std::max<Nanoseconds>(0, median(std::move(times)));
}

std::vector<Nanoseconds> compute_times(const Timeline& line, Nanoseconds apply) {
  std::vector<Nanoseconds> times;
  std::optional<Nanoseconds> cycle_began;
  Nanoseconds foreign = 0;
  for (const TraceLine* a : line) {
    if (!own(*a)) {
      ++foreign;
      continue;
    }
    const Nanoseconds cycle =
        cycle_began ? *a->time - *cycle_began - foreign * apply : *a->time - *a->start;
    times.push_back(std::max<Nanoseconds>(0, cycle - apply));
    cycle_began = a->time;
    foreign = 0;
  }
  return times;
}

/// The times for which a frame may have been on its way.
struct LatencyInterval {
  Nanoseconds low, high;
};

std::vector<LatencyInterval> latencies(const std::vector<Timeline>& workers, Nanoseconds apply,
                                       const std::function<bool(WorkerId, WorkerId)>& direct) {
  std::map<GradientName, Nanoseconds> sent;
  for (const Timeline& line : workers)
    for (const TraceLine* a : line)
      if (own(*a)) sent[a->name] = *a->time;
  std::vector<LatencyInterval> intervals;
  for (const Timeline& line : workers) {
    std::optional<Nanoseconds> last_look;  // the last at which the inbox was seen to be empty
    for (const TraceLine* a : line) {
      if (own(*a)) {
        last_look = a->start;
        continue;
      }
      const auto origin = sent.find(a->name);
      if (origin == sent.end() || !direct(a->name.origin, a->worker)) continue;
      const Nanoseconds low = last_look ? std::max<Nanoseconds>(0, *last_look - origin->second) : 0;
      intervals.push_back({low, std::max(low, *a->time - apply - origin->second)});
    }
  }
  return intervals;
}

// The middle of the first stretch that lies in most intervals.
Nanoseconds most_agreed(const std::vector<LatencyInterval>& intervals) {
  std::vector<std::pair<Nanoseconds, int>>
      ends;  // at equal times intervals begin before others end
  for (const LatencyInterval& i : intervals) {
    ends.emplace_back(i.low, -1);
    ends.emplace_back(i.high, 1);
  }
  std::sort(ends.begin(), ends.end());
  int open = 0, most = 0;
  Nanoseconds best = 0;
  for (std::size_t k = 0; k + 1 < ends.size(); ++k) {
    open -= ends[k].second;
    if (open <= most) continue;
    most = open;
    best = ends[k].first + (ends[k + 1].first - ends[k].first) / 2;
  }
  return best;
}

}  // namespace

MeasuredTimes measure(const std::vector<TraceLine>& trace,
                      const std::function<bool(WorkerId, WorkerId)>& direct) {
  const auto workers = timelines(trace);
  MeasuredTimes measured;
  measured.apply = time_to_apply(workers);
  for (const Timeline& line : workers) {
    measured.compute.push_back(compute_times(line, measured.apply));
    const auto first = std::find_if(line.begin(), line.end(), [](auto* a) { return own(*a); });
    measured.start.push_back(first == line.end() ? 0 : *(*first)->start);
    if (!line.empty()) measured.end = std::max(measured.end, *line.back()->time);
  }
  measured.latency = most_agreed(latencies(workers, measured.apply, direct));
  return measured;
}

}  // namespace dasgd
