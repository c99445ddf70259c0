#include "commands/compare_ranks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "dasgd/base/parse_json.hpp"
#include "dasgd/lab/referee/contest/real_dasgd.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"

namespace dasgd::app {
namespace {

template <typename Things, typename Name>
const auto& named(const Things& things, Name name_of, const std::string& name) {
  return *std::find_if(things.begin(), things.end(),
                       [&](const auto& thing) { return name_of(thing) == name; });
}

}  // namespace

template <typename Real>
RankTurns<Real>::~RankTurns() {
  if (ranks_.rank() == 0) ranks_.broadcast("");
}

template <typename Real>
PlayResult RankTurns<Real>::lead(const ChosenRival& rival, const ContestWorld& world,
                                 const TrainOptions& options, const Observer<Real>& observer) {
  const nlohmann::json turn{{"rival", rival.label},
                            {"world", world.name},
                            {"eta", options.eta},
                            {"seed", options.seed},
                            {"max_time", options.max_time->count()}};
  ranks_.broadcast(turn.dump());
  return take_part(rival, world, options, &observer);
}

template <typename Real>
void RankTurns<Real>::follow() {
  for (std::string text; !(text = ranks_.broadcast("")).empty();) {
    const auto turn = parse_json(text);
    const auto& rival = named(
        contest_.rivals, [](const ChosenRival& r) { return r.label; },
        turn.at("rival").get<std::string>());
    const auto& world = named(
        contest_.worlds, [](const ContestWorld& w) { return w.name; },
        turn.at("world").get<std::string>());
    TrainOptions options = world.options;
    options.eta = turn.at("eta").get<double>();
    options.seed = turn.at("seed").get<std::uint64_t>();
    options.max_time = std::chrono::nanoseconds(turn.at("max_time").get<std::int64_t>());
    take_part(rival, world, options, nullptr);
  }
}

template <typename Real>
PlayResult RankTurns<Real>::take_part(const ChosenRival& rival, const ContestWorld& world,
                                      const TrainOptions& options, const Observer<Real>* observer) {
  if (rival.kind.name != dasgd_rival)
    return ranks_.perform(objective_, rival, options, world.world, {.preempt = contest_.preempt},
                          observer);
  return perform_dasgd<Real>(
      objective_, options_of_dasgd(rival, options), world.world, observer,
      [this](const Objective<Real>& objective, const TrainOptions& mine, const auto& callbacks) {
        return ranks_.train<Real>(objective, mine, config_, callbacks);
      });
}

template class RankTurns<float>;
template class RankTurns<double>;

}  // namespace dasgd::app
