#include "dasgd/report/trace_digest.hpp"

#include <algorithm>

namespace dasgd::report {
namespace {

// Puts neighbours together: the values of 2k and 2k + 1 become that of k.
template <typename T, typename Merge>
void halve(std::vector<T>& values, Merge&& merge) {
  const std::size_t half = (values.size() + 1) / 2;
  for (std::size_t k = 0; k < half; ++k) {
    if (k > 0) values[k] = std::move(values[2 * k]);
    if (2 * k + 1 < values.size()) merge(values[k], values[2 * k + 1]);
  }
  values.resize(half);
}

void add(std::uint32_t& to, std::uint32_t from) { to += from; }

void merge_moments(Moment& to, const Moment& from) {
  to.S.merge(from.S);
  to.computed.resize(std::max(to.computed.size(), from.computed.size()));
  to.applied.resize(to.computed.size());
  for (std::size_t g = 0; g < from.computed.size(); ++g) {
    to.computed[g] += from.computed[g];
    to.applied[g] += from.applied[g];
  }
}

}  // namespace

void Extent::add(std::uint64_t value) {
  least = count == 0 ? value : std::min(least, value);
  most = std::max(most, value);
  sum += static_cast<double>(value);
  ++count;
}

void Extent::merge(const Extent& other) {
  if (other.count == 0) return;
  least = count == 0 ? other.least : std::min(least, other.least);
  most = std::max(most, other.most);
  sum += other.sum;
  count += other.count;
}

void TraceDigest::add(const TraceLine& line) {
  const std::size_t worker = index(line.worker), origin = index(line.name.origin);
  make_room_for(std::max(worker, origin));
  const bool own = worker == origin;
  ++applications_;
  gradients_ += own ? 1 : 0;
  end_ = std::max(end_, *line.time);
  ++histogram_[*line.S];
  heat_[worker / group_][origin / group_].add(*line.S);
  Moment& now = moment(std::max<Nanoseconds>(0, *line.time));
  now.S.add(*line.S);
  if (now.computed.size() < heat_.size()) {
    now.computed.resize(heat_.size());
    now.applied.resize(heat_.size());
  }
  ++(own ? now.computed : now.applied)[worker / group_];
  draw(line);
}

void TraceDigest::make_room_for(std::size_t worker) {
  if (worker < workers_) return;
  workers_ = worker + 1;
  while (groups() > limits_.groups) {
    group_ *= 2;
    for (Moment& m : moments_) {
      halve(m.computed, report::add);
      halve(m.applied, report::add);
    }
    const auto merge_extents = [](Extent& to, const Extent& from) { to.merge(from); };
    for (auto& row : heat_) halve(row, merge_extents);
    halve(heat_, [](std::vector<Extent>& to, const std::vector<Extent>& from) {
      for (std::size_t g = 0; g < from.size(); ++g) to[g].merge(from[g]);
    });
  }
  heat_.resize(groups());
  for (auto& row : heat_) row.resize(groups());
}

Moment& TraceDigest::moment(Nanoseconds time) {
  while (static_cast<std::size_t>(time >> shift_) >= limits_.buckets) {
    halve(moments_, merge_moments);
    ++shift_;
  }
  const auto bucket = static_cast<std::size_t>(time >> shift_);
  if (bucket >= moments_.size()) moments_.resize(bucket + 1);
  return moments_[bucket];
}

TimeLine* TraceDigest::line_of(std::size_t worker) {
  while (worker / stride_ >= limits_.rows) {
    stride_ *= 2;
    std::erase_if(lines_, [this](const TimeLine& line) { return line.worker % stride_ != 0; });
    bars_ = ticks_ = 0;
    for (const TimeLine& line : lines_) {
      bars_ += line.bars.size();
      ticks_ += line.ticks.size();
    }
  }
  if (worker % stride_ != 0) return nullptr;
  while (lines_.size() <= worker / stride_) lines_.push_back({lines_.size() * stride_, {}, {}});
  return &lines_[worker / stride_];
}

void TraceDigest::draw(const TraceLine& line) {
  TimeLine* const row = line_of(index(line.worker));
  if (!row) return;
  const Nanoseconds time = *line.time;
  if (line.start) {
    const Nanoseconds busy = std::max<Nanoseconds>(0, time - *line.start);
    if (!row->bars.empty() && *line.start - row->bars.back().end < resolution_) {
      row->bars.back().end = time;
      row->bars.back().busy += busy;
    } else {
      row->bars.push_back({time - busy, time, busy});
      ++bars_;
    }
  } else if (!row->ticks.empty() && time - row->ticks.back().time <= resolution_) {
    ++row->ticks.back().count;
  } else {
    row->ticks.push_back({time, 1});
    ++ticks_;
  }
  if (limits_.latest) {
    const std::size_t bars = std::max<std::size_t>(1, limits_.bars / lines_.size());
    const std::size_t ticks = std::max<std::size_t>(1, limits_.ticks / lines_.size());
    for (; row->bars.size() > bars; row->bars.pop_front())
      whole_since_ = std::max(whole_since_, row->bars.front().end);
    for (; row->ticks.size() > ticks; row->ticks.pop_front())
      whole_since_ = std::max(whole_since_, row->ticks.front().time);
  } else {
    while (bars_ > limits_.bars || ticks_ > limits_.ticks) coarsen();
  }
}

// Doubles the resolution and puts together what is closer than that.
void TraceDigest::coarsen() {
  resolution_ = std::max<Nanoseconds>(1, 2 * resolution_);
  bars_ = ticks_ = 0;
  for (TimeLine& line : lines_) {
    std::deque<Bar> bars;
    for (const Bar& bar : line.bars) {
      if (!bars.empty() && bar.start - bars.back().end < resolution_) {
        bars.back().end = bar.end;
        bars.back().busy += bar.busy;
      } else {
        bars.push_back(bar);
      }
    }
    std::deque<Tick> ticks;
    for (const Tick& tick : line.ticks) {
      if (!ticks.empty() && tick.time - ticks.back().time <= resolution_) {
        ticks.back().count += tick.count;
      } else {
        ticks.push_back(tick);
      }
    }
    line.bars = std::move(bars);
    line.ticks = std::move(ticks);
    bars_ += line.bars.size();
    ticks_ += line.ticks.size();
  }
}

}  // namespace dasgd::report
