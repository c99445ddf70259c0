#include "dasgd/staleness/trace_index.hpp"

#include <algorithm>

namespace dasgd {
namespace {

std::string show(const GradientName& name) {
  return "(" + std::to_string(index(name.origin)) + ", " + std::to_string(name.sequence) + ")";
}

// By more than the tolerance; any two numbers may stand in a file.
bool is_before(Nanoseconds a, Nanoseconds b, Nanoseconds tolerance) {
  return a<b&& static_cast<std::uint64_t>(b) -
           static_cast<std::uint64_t>(a)> static_cast<std::uint64_t>(tolerance);
}

std::string who(const TraceLine& a) { return "worker " + std::to_string(index(a.worker)); }

}  // namespace

TraceIndex::TraceIndex(const std::vector<TraceLine>& trace, Nanoseconds tolerance,
                       std::vector<Violation>& violations) {
  number_gradients(trace);
  for (const TraceLine& a : trace) file(a, violations);
  audit_origins(trace, violations);
  audit_times(trace, violations);
  if (consistent_) audit_order(trace, tolerance, violations);
  audit_delivery(violations);
}

void TraceIndex::number_gradients(const std::vector<TraceLine>& trace) {
  std::vector<Number> made;
  for (const TraceLine& a : trace) {
    const std::size_t needed = std::max(index(a.worker), index(a.name.origin)) + 1;
    if (made.size() < needed) made.resize(needed, 0);
    Number& count = made[index(a.name.origin)];
    count = std::max(count, a.name.sequence + 1);
  }
  first_.assign(1, 0);
  for (std::size_t j = 0; j < made.size(); ++j) {
    first_.push_back(first_.back() + made[j]);
    origin_.insert(origin_.end(), made[j], static_cast<std::uint32_t>(j));
  }
  origin_step_.assign(origin_.size(), never);
  computed_.assign(origin_.size(), nullptr);
  order_.resize(made.size());
  applied_.assign(made.size(), 0);
  constexpr std::size_t cells_per_line = 64;
  is_dense_ = made.size() * origin_.size() <= cells_per_line * trace.size();
  if (is_dense_) dense_.assign(made.size(), std::vector<std::uint32_t>(origin_.size(), never));
  if (!is_dense_) sparse_.resize(made.size());
}

void TraceIndex::set_position(std::size_t i, Number g, std::uint32_t position) {
  (is_dense_ ? dense_[i][g] : sparse_[i][g]) = position;
  ++applied_[i];
}

void TraceIndex::file(const TraceLine& a, std::vector<Violation>& violations) {
  const auto broken = [&](const std::string& why) {
    violations.push_back({a.line, why});
    consistent_ = false;
  };
  auto& order = order_[index(a.worker)];
  const Number g = number(index(a.name.origin), a.name.sequence);
  if (a.step != order.size())
    broken(who(a) + " is at step " + std::to_string(order.size()) + ", not " +
           std::to_string(a.step));
  if (position(index(a.worker), g) != never) {
    broken(who(a) + " applies gradient " + show(a.name) + " a second time");
  } else {
    set_position(index(a.worker), g, static_cast<std::uint32_t>(order.size()));
  }
  order.push_back(g);
  if (a.worker == a.name.origin) computed_[g] = &a;
  if (origin_step_[g] == never) origin_step_[g] = static_cast<std::uint32_t>(a.origin_step);
  if (origin_step_[g] != a.origin_step)
    broken("gradient " + show(a.name) + " has origin_step " + std::to_string(a.origin_step) +
           " here and " + std::to_string(origin_step_[g]) + " elsewhere");
}

void TraceIndex::audit_origins(const std::vector<TraceLine>& trace,
                               std::vector<Violation>& violations) {
  std::vector<std::uint32_t> own(workers(), 0);
  for (const TraceLine& a : trace) {
    const auto broken = [&](const std::string& why) {
      violations.push_back({a.line, why});
      consistent_ = false;
    };
    const Number g = number(index(a.name.origin), a.name.sequence);
    if (a.worker != a.name.origin) {
      if (!computed_[g]) broken("gradient " + show(a.name) + " was never computed by its origin");
      continue;
    }
    if (a.name.sequence != own[index(a.worker)]++)
      broken(who(a) + " computed gradient " + show(a.name) + " out of its own order");
    if (a.origin_step != a.step)
      broken(who(a) + " did not apply its own gradient " + show(a.name) +
             " at once: computed at step " + std::to_string(a.origin_step) + ", applied at " +
             std::to_string(a.step));
  }
}

// A worker has one clock.
void TraceIndex::audit_times(const std::vector<TraceLine>& trace,
                             std::vector<Violation>& violations) {
  std::vector<Nanoseconds> last(workers(), 0);
  for (const TraceLine& a : trace) {
    if (!a.time) continue;
    Nanoseconds& before = last[index(a.worker)];
    if (*a.time < before)
      violations.push_back({a.line, who(a) + " is at time " + std::to_string(before) +
                                        " already, not at " + std::to_string(*a.time)});
    before = std::max(before, *a.time);
  }
}

// Replays the trace without its clocks: an own gradient can be applied at once, a foreign one when
// its origin has computed it. What cannot be replayed was applied before it was computed.
void TraceIndex::audit_order(const std::vector<TraceLine>& trace, Nanoseconds tolerance,
                             std::vector<Violation>& violations) {
  std::vector<std::size_t> done(workers(), 0);
  std::vector<std::size_t> ready(workers());
  for (std::size_t i = 0; i < workers(); ++i) ready[i] = i;
  std::vector<std::vector<std::size_t>> waiting(gradients());
  while (!ready.empty()) {
    const std::size_t i = ready.back();
    ready.pop_back();
    for (; done[i] < order_[i].size(); ++done[i]) {
      const Number g = order_[i][done[i]];
      const std::size_t j = origin_[g];
      if (j != i && position(j, g) >= done[j]) {
        waiting[g].push_back(i);
        break;
      }
      if (j == i) {
        for (const std::size_t w : waiting[g]) ready.push_back(w);
        waiting[g].clear();
      }
    }
  }
  for (const TraceLine& a : trace) {
    const auto broken = [&](bool logically) {
      violations.push_back(
          {a.line, who(a) + " applies gradient " + show(a.name) + " before it was computed"});
      if (logically) consistent_ = false;
    };
    const Number g = number(index(a.name.origin), a.name.sequence);
    if (a.step == done[index(a.worker)]) {
      broken(true);
    } else if (a.worker != a.name.origin && a.time && computed_[g]->time &&
               is_before(*a.time, *computed_[g]->time, tolerance)) {
      broken(false);
    }
  }
}

void TraceIndex::audit_delivery(std::vector<Violation>& violations) {
  for (std::size_t i = 0; i < workers(); ++i) {
    const std::size_t count = gradients() - applied_[i];
    if (count == 0) continue;
    drained_ = false;
    Number first = 0;
    while (position(i, first) != never) ++first;
    const auto j = origin_[first];
    const std::size_t line = computed_[first] ? computed_[first]->line : 0;
    violations.push_back(
        {line,
         "gradient " + show({worker_id(j), first - first_[j]}) + " is never applied by worker " +
             std::to_string(i) +
             (count > 1 ? ", nor are " + std::to_string(count - 1) + " others" : ""),
         true});
  }
}

}  // namespace dasgd
