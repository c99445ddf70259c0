#include "dasgd/advice/practical.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <thread>

#include "dasgd/advice/pilot.hpp"
#include "dasgd/random/random.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

constexpr std::size_t most_workers = 64;
// Of the run to come, and how many seconds that is at least and at most.
constexpr double share_to_spend = 0.1, least_seconds = 4, most_seconds = 60;
constexpr std::uint64_t most_gradients = 4000, fewest_gradients = 24;
constexpr std::size_t rows_to_judge_by = 2048;
constexpr double coarse = 4, fine = 2;  // neighbours on the grid
constexpr int smallest = -5, largest = 2;
// The best step of a short run is close to where runs become unstable, and a real run is longer and
// staler than its trial. What is proved needs no such margin.
constexpr double share_of_best = 0.5;
constexpr double as_good = 1.005;  // losses that differ by less are taken for the same

/// Judges a model by a fixed part of the samples: the whole of them may take minutes.
template <typename Real>
class OnAPart final : public Objective<Real> {
 public:
  OnAPart(const Objective<Real>& inner, std::uint64_t seed) : inner_(inner) {
    Random random(seed, Purpose::pilot, 2);
    const auto all = static_cast<std::uint32_t>(inner.samples());
    rows_.resize(std::min<std::size_t>(all, rows_to_judge_by));
    for (std::uint32_t k = 0; k < rows_.size(); ++k)
      rows_[k] = rows_.size() == all ? k : random.below(all);
  }

  double loss(std::span<const Real> x) const override {
    std::vector<Real> unused(inner_.dimension());
    return inner_.gradient(x, rows_, unused);
  }
  HeldOut evaluate(std::span<const Real>) const override { return {}; }

  std::size_t dimension() const override { return inner_.dimension(); }
  std::size_t samples() const override { return inner_.samples(); }
  std::vector<Real> start() const override { return inner_.start(); }
  double gradient(std::span<const Real> x, Rows rows, std::span<Real> g) const override {
    return inner_.gradient(x, rows, g);
  }
  std::unique_ptr<Oracle<Real>> make_oracle(WorkerId worker) const override {
    return inner_.make_oracle(worker);
  }

 private:
  const Objective<Real>& inner_;
  std::vector<std::uint32_t> rows_;
};

/// Tries one step after the other on the same problem in the same world.
template <typename Real>
class Trials {
 public:
  Trials(const Objective<Real>& objective, const TrainOptions& options, const VirtualWorld& world)
      : objective_(objective, options.seed),
        start_(objective_.loss(objective.start())),
        options_(options),
        world_(world) {}

  /// The best of these steps by the loss after so many gradients; nothing if none came below the
  /// loss at the start. Of steps that are as good as the best the smallest: noise shows late.
  std::optional<double> best_of(const std::vector<double>& etas, std::uint64_t gradients) {
    std::vector<TriedStep> now;
    for (const double eta : etas) now.push_back(run(eta, gradients));
    tried.insert(tried.end(), now.begin(), now.end());
    double least = start_;
    for (const TriedStep& t : now) least = std::min(least, t.loss.value_or(start_));
    for (const TriedStep& t : now)
      if (t.loss && *t.loss < start_ && *t.loss <= least * as_good) return t.eta;
    return std::nullopt;
  }

  std::vector<TriedStep> tried;

 private:
  TriedStep run(double eta, std::uint64_t gradients) {
    TrainOptions options = bare_run(options_, eta);
    options.rule = options_.rule;
    options.rule.schedule = {};
    options.stop = options_.stop;
    const auto each = (gradients + options.workers - 1) / options.workers;
    options.gradients = {static_cast<std::uint32_t>(each)};
    const auto result = run_simulation<Real>(objective_, options, world_);
    const bool good = !result.failure && std::isfinite(result.summary.loss);
    return {eta, result.summary.gradients,
            good ? std::optional(result.summary.loss) : std::nullopt};
  }

  const OnAPart<Real> objective_;
  const double start_;
  const TrainOptions& options_;
  const VirtualWorld& world_;
};

// Workers that are equally fast but do not keep step, as on real machines.
VirtualWorld usual_world() {
  return {.compute = TimeModel::lognormal(1'000'000, 0.1),
          .latency = TimeModel::constant(10'000),
          .apply = 1'000};
}

}  // namespace

template <typename Real>
std::optional<PracticalStep> try_steps(const Objective<Real>& objective,
                                       const TrainOptions& options,
                                       const std::optional<VirtualWorld>& world, double L,
                                       double proved, std::optional<double> horizon) {
  if (options.workers > most_workers || !(L > 0) || !std::isfinite(L)) return std::nullopt;
  const double gradient =
      1e-9 * static_cast<double>(
                 time_of_gradient(objective, resolved_batch(options, objective.samples())).count());
  // The coarse grid takes a quarter of a fine run each.
  const double runs = (largest - smallest + 1) / 4.0 + 3;
  const double seconds =
      std::clamp(share_to_spend * gradient * horizon.value_or(0), least_seconds, most_seconds);
  const double fit = seconds / std::max(1e-9, gradient) / runs;
  const double longest = std::min(fit, horizon.value_or(fit));
  const auto gradients =
      static_cast<std::uint64_t>(std::min(longest, static_cast<double>(most_gradients)));
  if (gradients < std::max<std::uint64_t>(fewest_gradients, 4 * options.workers))
    return std::nullopt;
  VirtualWorld here = world.value_or(usual_world());
  const bool worth_a_core = gradient > 2e-4;  // handing a gradient over takes some time as well
  here.threads = worth_a_core ? std::max(1u, std::thread::hardware_concurrency()) : 1;
  Trials<Real> trials(objective, options, here);
  std::vector<double> etas;
  for (int k = smallest; k <= largest; ++k) etas.push_back(std::pow(coarse, k) / L);
  const auto near = trials.best_of(etas, std::max(fewest_gradients, gradients / 4));
  if (!near) return std::nullopt;
  const auto best = trials.best_of({*near / fine, *near, *near * fine}, gradients);
  const double found = best.value_or(*near);
  return PracticalStep{
      std::clamp(proved, found * share_of_best, found),
      fmt::format(
          "near {:.4g}, the best of {} steps by the loss after {} gradients in virtual time; "
          "not proved",
          found, trials.tried.size(), gradients),
      std::move(trials.tried)};
}

template std::optional<PracticalStep> try_steps(const Objective<float>&, const TrainOptions&,
                                                const std::optional<VirtualWorld>&, double, double,
                                                std::optional<double>);
template std::optional<PracticalStep> try_steps(const Objective<double>&, const TrainOptions&,
                                                const std::optional<VirtualWorld>&, double, double,
                                                std::optional<double>);

}  // namespace dasgd
