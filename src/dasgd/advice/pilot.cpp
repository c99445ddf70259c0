#include "dasgd/advice/pilot.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <numeric>

#include "dasgd/runtime/train.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

using namespace std::chrono_literals;

/// Gradients of the right size that are all zero.
template <typename Real>
class Nothing final : public Objective<Real> {
 public:
  explicit Nothing(std::size_t dimension) : dimension_(dimension) {}
  std::size_t dimension() const override { return dimension_; }
  double gradient(std::span<const Real>, Rows, std::span<Real> gradient) const override {
    std::fill(gradient.begin(), gradient.end(), Real{0});
    return 0;
  }

 private:
  std::size_t dimension_;
};

}  // namespace

Clock clock_from_now() {
  using Steady = std::chrono::steady_clock;
  return [began = Steady::now()] {
    return std::chrono::duration<double>(Steady::now() - began).count();
  };
}

template <typename Real>
double time_of_gradient(const Objective<Real>& objective, std::size_t batch, const Clock& clock) {
  constexpr std::size_t first = 2, factor = 4;  // rows, and from one attempt to the next
  constexpr std::size_t most = 7;               // of the whole gradient
  constexpr double slow = 1, most_seconds = 0.2;
  std::vector<std::uint32_t> all(batch == 0 ? objective.samples()
                                            : std::min(batch, objective.samples()));
  std::iota(all.begin(), all.end(), 0u);
  std::vector<Real> gradient(objective.dimension());
  const std::vector<Real> x = objective.start();
  const auto seconds_of = [&](std::size_t rows) {
    const double begin = clock();
    objective.gradient(x, Rows(all).first(rows), gradient);
    return clock() - begin;
  };
  std::size_t rows = std::min(first, all.size());
  seconds_of(rows);  // the first one is slower than others
  while (rows < all.size()) {
    const double seconds = seconds_of(rows);
    if (seconds * factor > slow)
      return seconds * static_cast<double>(all.size()) / static_cast<double>(rows);
    rows = std::min(factor * rows, all.size());
  }
  std::vector<double> times;
  const double began = clock();
  while (times.empty() || (times.size() < most && clock() - began < most_seconds))
    times.push_back(seconds_of(rows));
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  return *middle;
}

template <typename Real>
PilotStaleness pilot_on_threads(const Objective<Real>& objective, TrainOptions options, double eta,
                                std::vector<std::vector<Real>>& trajectory) {
  options = bare_run(options, eta);
  options.max_time = 1s;  // not a number of gradients: small ones would be over before all began
  const auto result = run_training<Real>(objective, options);
  if (result.failure) std::rethrow_exception(result.failure);
  trajectory.push_back(result.model);
  return {result.summary.staleness,
          static_cast<double>(result.summary.gradients) / result.summary.wall_seconds,
          fmt::format("measured: {} gradients on {} threads of this machine",
                      result.summary.gradients, options.workers),
          result.summary.noncausal_applications};
}

template <typename Real>
PilotStaleness pilot_in_virtual_time(const Objective<Real>& objective, const TrainOptions& options,
                                     const VirtualWorld& world) {
  TrainOptions pilot = bare_run(options, 1);
  pilot.batch = 0;
  const std::uint32_t each =
      std::clamp(3200 / static_cast<std::uint32_t>(options.workers), 20u, 100u);
  if (options.gradients.empty())
    pilot.total_gradients = std::uint64_t{each} * options.workers;  // slow workers make fewer
  else
    pilot.gradients = {each};
  // Only links with a bandwidth care how large a gradient is.
  const Nothing<Real> nothing(world.bandwidth ? objective.dimension() : 1);
  const auto result = run_simulation<Real>(nothing, pilot, world);
  if (result.failure) std::rethrow_exception(result.failure);
  return {result.summary.staleness,
          static_cast<double>(result.summary.gradients) / *result.summary.virtual_seconds,
          fmt::format("predicted: {} gradients of {} workers in virtual time",
                      result.summary.gradients, options.workers),
          result.summary.noncausal_applications};
}

template <typename Real>
void walk(const Objective<Real>& objective, const TrainOptions& options, double eta,
          std::vector<std::vector<Real>>& trajectory) {
  TrainOptions alone = bare_run(options, eta);
  alone.workers = 1;
  alone.topology = "full";
  alone.relay.reset();
  alone.slow.clear();
  alone.time_factors.clear();
  alone.compute = {};
  alone.max_time = 1s;
  const auto result = run_training<Real>(objective, alone);
  if (result.failure) std::rethrow_exception(result.failure);
  trajectory.push_back(result.model);
}

template double time_of_gradient(const Objective<float>&, std::size_t, const Clock&);
template double time_of_gradient(const Objective<double>&, std::size_t, const Clock&);
template PilotStaleness pilot_on_threads(const Objective<float>&, TrainOptions, double,
                                         std::vector<std::vector<float>>&);
template PilotStaleness pilot_on_threads(const Objective<double>&, TrainOptions, double,
                                         std::vector<std::vector<double>>&);
template PilotStaleness pilot_in_virtual_time(const Objective<float>&, const TrainOptions&,
                                              const VirtualWorld&);
template PilotStaleness pilot_in_virtual_time(const Objective<double>&, const TrainOptions&,
                                              const VirtualWorld&);
template void walk(const Objective<float>&, const TrainOptions&, double,
                   std::vector<std::vector<float>>&);
template void walk(const Objective<double>&, const TrainOptions&, double,
                   std::vector<std::vector<double>>&);

}  // namespace dasgd
