#include "dasgd/lab/referee/hold.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <utility>

#include "dasgd/base/input_error.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/parallel.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/lab/referee/contest/run_one.hpp"
#include "dasgd/lab/referee/tuning.hpp"
#include "dasgd/lab/rivals/play.hpp"

namespace dasgd {
namespace {

const std::vector<std::string> contest_engines{"sim", "threads", "mpi"};

// Far from the fresh ones, which begin at the seed that was given.
constexpr std::uint64_t first_tuning_seed = 1'000'000;

std::optional<double> given_step(const Contest& contest, const ChosenRival& rival) {
  std::optional<double> found;
  for (const auto& [label, eta] : contest.given_eta) {
    if (label == rival.label || label == rival.kind.name) return eta;
    if (label.empty()) found = eta;
  }
  return found;
}

std::size_t planned_runs(const Contest& contest, const ChosenRival& rival) {
  const bool tunes = contest.tuning.steps > 0 && !given_step(contest, rival);
  const std::size_t times = contest.engine == ContestEngine::sim ? 1 : 2;
  return times * contest.seeds + (tunes ? contest.tuning.steps * contest.tuning.seeds : 0);
}

void require_real(const ContestWorld& world) {
  try {
    require_real_links(world.world);
  } catch (const InputError& error) {
    throw InputError("world " + world.name + ": " + error.what());
  }
}

/// One rival in one world.
template <typename Real>
class Pair {
 public:
  Pair(ModelJudge<Real>& model_judge, const Contest& contest, const ChosenRival& rival,
       const ContestWorld& world, Journal& journal, const std::function<void()>& report_progress)
      : examiner_(model_judge),
        contest_(contest),
        rival_(rival),
        world_(world),
        journal_(journal),
        report_progress_(report_progress) {}

  /// Its step is found; nothing has run yet that counts.
  ContestRow tuned() {
    ContestRow row{.rival = rival_.label, .world = world_.name, .numbers = rival_.numbers};
    const auto given = given_step(contest_, rival_);
    if (given || contest_.tuning.steps == 0) {
      row.eta = given.value_or(contest_.advised_eta);
    } else {
      const auto trial = [&](double eta, std::size_t k, std::optional<Nanoseconds> most) {
        return this->trial(eta, k, time_of_a_trial(most));
      };
      const auto tune_step = [&] {
        const double middle = again_ ? row.eta : contest_.advised_eta;
        tune(contest_.tuning, contest_.goal, middle, trial, row);
      };
      tune_step();
      const bool has_number = contest_.tuning.numbers && !rival_.tuned.empty();
      // A step that was chosen with a number that leads nowhere says little.
      if (has_number && tune_own_number(trial, row) && !reached_in_tuning(row)) {
        again_ = true;
        best_trials_.clear();
        tune_step();
      }
    }
    return row;
  }

  /// The run that counts with the k-th fresh seed.
  ContestRun counted(const ContestRow& row, std::size_t k, Nanoseconds given) {
    rival_.numbers = row.numbers;
    const bool whole = given == world_.options.max_time->count();
    ContestRun result = run({row.eta, contest_.seed + k, true,
                             whole ? std::nullopt : std::optional<Nanoseconds>(given)});
    result.tuned = row.tuned && tuning_flaw(row).empty();
    return result;
  }

  /// The runs become the prediction of real ones, which are given twice its time.
  void make_real(ContestRow& row, const Perform<Real>& perform) {
    rival_.numbers = row.numbers;
    row.predicted = std::exchange(row.runs, {});
    for (const ContestRun& prediction : row.predicted) {
      const auto most = static_cast<Nanoseconds>(2e9 * prediction.time_s) + 2 * contest_.every;
      row.runs.push_back(run({row.eta, prediction.seed, true, most}, &perform));
      row.runs.back().tuned = prediction.tuned;
    }
  }

 private:
  /// One step with the k-th tuning seed, beside the best one with that seed so far.
  ContestRun trial(double eta, std::size_t k, std::optional<Nanoseconds> most) {
    const auto at = best_trials_.find(k);
    const ContestRun* const best = at == best_trials_.end() ? nullptr : &at->second;
    ContestRun found = run({eta, contest_.seed + first_tuning_seed + k, false, most, best});
    const auto distance = [&](const ContestRun& run) { return distance_to(contest_.goal, run); };
    const bool better = !best || found.time_to_goal() < best->time_to_goal() ||
                        (!best->reached && distance(found) < distance(*best));
    // One whose loss ended no better than it began says nothing about others.
    const bool learned =
        found.reached || (!found.curve.empty() && found.loss_mean < found.curve.front().loss_mean);
    if (better && learned) best_trials_[k] = found;
    return found;
  }
  /// Returns whether another number than the usual one is better.
  bool tune_own_number(const TryStep& trial, ContestRow& row) {
    const RivalParameter parameter = rival_.parameter(rival_.tuned);
    const double usual = parameter.meant(parameter.usual, world_.options.workers);
    double& number = rival_.numbers[rival_.tuned];
    const double best = tune_number(
        contest_.tuning, contest_.goal, parameter, usual,
        [&](double value, std::size_t k, std::optional<Nanoseconds> most) {
          number = value;
          return trial(row.eta, k, most);
        },
        row);
    number = best == usual ? parameter.usual : best;
    row.numbers = rival_.numbers;
    return best != usual;
  }
  std::optional<Nanoseconds> time_of_a_trial(std::optional<Nanoseconds> most) const {
    const auto all = static_cast<double>(world_.options.max_time->count());
    const auto share = static_cast<Nanoseconds>(contest_.tuning.share * all);
    return most ? std::min(*most, share) : share;
  }
  ContestRun run(const RunRequest& request, const Perform<Real>* perform = nullptr) {
    const std::string name =
        fmt::format("{}|{}|{}|{}|{}|{}{}{}", rival_.label_with(rival_.numbers), world_.name,
                    show_real(request.eta), request.seed, request.thorough,
                    request.most.value_or(0), perform ? "|" + to_string(contest_.engine) : "",
                    rival_.kind.edition.empty() ? "" : "|" + rival_.kind.edition) +
        (request.best ? "|beside " + show_real(request.best->eta) : "") + (again_ ? "|again" : "");
    ContestRun result = journal_.run(
        name, [&] { return run_one(examiner_, contest_, rival_, world_, request, perform); });
    report_progress_();
    return result;
  }

  ModelJudge<Real>& examiner_;
  const Contest& contest_;
  ChosenRival rival_;
  const ContestWorld& world_;
  Journal& journal_;
  const std::function<void()>& report_progress_;
  std::map<std::size_t, ContestRun> best_trials_;  // by tuning seed
  bool again_ = false;                             // steps are tuned with a number that was found
};

}  // namespace

namespace {

std::string goal_text(Goal::Kind kind, const std::string& value) {
  switch (kind) {
    case Goal::Kind::loss:
      return "loss at most " + value;
    case Goal::Kind::accuracy:
      return "accuracy at least " + value;
    case Goal::Kind::error:
      break;
  }
  return "gradient norm at most " + value;
}

}  // namespace

std::string to_string(const Goal& goal) { return goal_text(goal.kind, show_real(goal.value)); }
std::string for_people(const Goal& goal) {
  constexpr std::size_t readable = 7;
  const std::string exact = show_real(goal.value);
  return goal_text(goal.kind, exact.size() <= readable ? exact : fmt::format("{:.3g}", goal.value));
}

ContestEngine parse_contest_engine(const std::string& text) {
  if (text == "virtual") return ContestEngine::sim;
  const auto at = std::find(contest_engines.begin(), contest_engines.end(), text);
  if (at == contest_engines.end())
    throw InputError("unknown engine \"" + text + "\"" + suggestion(text, contest_engines));
  return static_cast<ContestEngine>(at - contest_engines.begin());
}

std::string to_string(ContestEngine engine) {
  return contest_engines[static_cast<std::size_t>(engine)];
}

std::vector<std::string> notes_of(const Contest& contest) {
  std::vector<std::string> notes;
  for (const ContestWorld& world : contest.worlds) {
    if (contest.engine != ContestEngine::sim) require_real(world);
    const Graph graph = graph_of(world.options);
    for (const ChosenRival& rival : contest.rivals) {
      if (!rival.kind.on_graph) continue;
      const std::string note = rival.kind.on_graph(graph, rival.numbers);
      if (!note.empty()) notes.push_back(world.name + ": " + note);
    }
  }
  return notes;
}

template <typename Real>
std::vector<ContestRow> hold_contest(const Objective<Real>& objective, const Contest& contest,
                                     Journal& journal, const RunsSoFar& progress,
                                     const Perform<Real>& perform) {
  notes_of(contest);
  std::size_t about = 0;
  for (const ChosenRival& rival : contest.rivals)
    about += planned_runs(contest, rival) * contest.worlds.size();
  std::atomic<std::size_t> done{0};
  const std::function<void()> report_progress = [&] {
    const std::size_t now = ++done;
    progress(now, std::max(about, now));
  };
  const std::size_t rivals = contest.rivals.size();
  std::vector<ContestRow> rows(rivals * contest.worlds.size());
  ModelJudge<Real> model_judge(objective);
  const auto pair = [&](std::size_t k) {
    return Pair<Real>(model_judge, contest, contest.rivals[k % rivals], contest.worlds[k / rivals],
                      journal, report_progress);
  };
  in_parallel(rows.size(), contest.threads, [&](std::size_t k) { rows[k] = pair(k).tuned(); });
  std::vector<Nanoseconds> given;
  for (std::size_t w = 0; w < contest.worlds.size(); ++w)
    given.push_back(
        time_given(contest, contest.worlds[w], std::span(rows).subspan(w * rivals, rivals)));
  for (std::size_t k = 0; k < rows.size(); ++k) {
    rows[k].given_s = static_cast<double>(given[k / rivals]) * 1e-9;
    rows[k].runs.resize(contest.seeds);
  }
  in_parallel(rows.size() * contest.seeds, contest.threads, [&](std::size_t k) {
    const std::size_t at = k / contest.seeds, seed = k % contest.seeds;
    rows[at].runs[seed] = pair(at).counted(rows[at], seed, given[at / rivals]);
  });
  if (contest.engine != ContestEngine::sim)
    for (std::size_t k = 0; k < rows.size(); ++k) pair(k).make_real(rows[k], perform);
  return rows;
}

template std::vector<ContestRow> hold_contest(const Objective<float>&, const Contest&, Journal&,
                                              const RunsSoFar&, const Perform<float>&);
template std::vector<ContestRow> hold_contest(const Objective<double>&, const Contest&, Journal&,
                                              const RunsSoFar&, const Perform<double>&);

}  // namespace dasgd
