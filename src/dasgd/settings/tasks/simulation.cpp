#include "dasgd/settings/tasks/simulation.hpp"

#include <nlohmann/json.hpp>
#include <span>

#include "dasgd/sim/simulate.hpp"

namespace dasgd::config {
namespace {

std::string members_json(std::span<const elastic::MemberOutcome> members) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const elastic::MemberOutcome& m : members)
    all.push_back({{"worker", all.size()},
                   {"origin", m.origin},
                   {"name", m.name},
                   {"end", m.end},
                   {"came", m.came},
                   {"went", m.went},
                   {"joined_at_step", m.joined_at_step},
                   {"gradients", m.gradients}});
  return all.dump(2) + "\n";
}

}  // namespace

template <typename Real>
TrainResult<Real> simulate_into(const RunDirectory& directory, bool with_trace,
                                const Objective<Real>& objective, const TrainOptions& options,
                                const VirtualWorld& world,
                                const std::optional<elastic::Scenario>& scenario) {
  return dasgd::simulate_into<Real>(
      directory, with_trace, objective, options, [&](const TrainOptions& all) -> Simulated<Real> {
        if (!scenario) return {run_simulation<Real>(objective, all, world)};
        auto members = elastic::simulate_members<Real>(objective, all, world, *scenario);
        for (const std::string& what : members.too_late)
          if (all.warn) all.warn(what + " did not happen: the run ended before");
        std::string history;
        for (const std::string& line : members.history) history += line + "\n";
        return {std::move(members.result),
                {{"members.json", members_json(members.members)},
                 {"adoptions.jsonl", members.adoptions},
                 {"story.txt", history}}};
      });
}

template TrainResult<float> simulate_into(const RunDirectory&, bool, const Objective<float>&,
                                          const TrainOptions&, const VirtualWorld&,
                                          const std::optional<elastic::Scenario>&);
template TrainResult<double> simulate_into(const RunDirectory&, bool, const Objective<double>&,
                                           const TrainOptions&, const VirtualWorld&,
                                           const std::optional<elastic::Scenario>&);

}  // namespace dasgd::config
