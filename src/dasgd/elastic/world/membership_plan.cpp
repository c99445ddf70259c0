#include "dasgd/elastic/world/membership_plan.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::elastic {
namespace {

std::string show(Nanoseconds time) { return show_duration(std::chrono::nanoseconds(time)); }

struct Going {
  const char* how;
  std::size_t worker;
  Nanoseconds at;

  [[noreturn]] void refuse(const std::string& why) const {
    throw InputError(fmt::format("`{}` {}:{}: {}", how, worker, show(at), why));
  }
};

}  // namespace

std::vector<Nanoseconds> join_times(const MembershipPlan& membership_plan, std::size_t workers,
                                    const std::vector<Nanoseconds>& start) {
  std::vector<Nanoseconds> times = start;
  times.resize(workers, 0);
  times.insert(times.end(), membership_plan.joins.begin(), membership_plan.joins.end());
  std::sort(times.begin() + static_cast<std::ptrdiff_t>(workers), times.end());
  return times;
}

std::size_t most_at_once(const MembershipPlan& membership_plan, std::size_t workers,
                         const std::vector<Nanoseconds>& start) {
  std::vector<std::pair<Nanoseconds, int>> changes;
  for (const Nanoseconds at : join_times(membership_plan, workers, start))
    changes.emplace_back(at, 1);
  for (const auto* goings : {&membership_plan.crashes, &membership_plan.leaves})
    for (const auto& going : *goings) changes.emplace_back(going.at, -1);
  std::sort(changes.begin(), changes.end());
  int here = 0, most = 0;
  for (const auto& [at, by] : changes) most = std::max(most, here += by);
  return static_cast<std::size_t>(most);
}

void validate(const MembershipPlan& membership_plan, std::size_t workers,
              const std::vector<Nanoseconds>& start) {
  const std::vector<Nanoseconds> come = join_times(membership_plan, workers, start);
  std::vector<Going> goings;
  for (const auto& c : membership_plan.crashes)
    goings.push_back({"elastic.crash", index(c.worker), c.at});
  for (const auto& l : membership_plan.leaves)
    goings.push_back({"elastic.leave", index(l.worker), l.at});
  std::stable_sort(goings.begin(), goings.end(),
                   [](const Going& a, const Going& b) { return a.at < b.at; });
  std::vector<bool> gone(come.size(), false);
  for (const Going& going : goings) {
    if (going.worker >= come.size())
      going.refuse(fmt::format("there is no worker {}: the run has 0 to {}{}", going.worker,
                               come.size() - 1,
                               membership_plan.joins.empty() ? "" : ", including those that join"));
    if (going.at <= come[going.worker])
      going.refuse(fmt::format("worker {} joins at {}; it can leave only later", going.worker,
                               show(come[going.worker])));
    if (gone[going.worker]) going.refuse("it has left by then");
    gone[going.worker] = true;
    bool anybody = false;
    for (std::size_t i = 0; i < come.size(); ++i)
      anybody = anybody || (!gone[i] && come[i] < going.at);
    if (!anybody) going.refuse("no member with a model would be left");
  }
}

}  // namespace dasgd::elastic
