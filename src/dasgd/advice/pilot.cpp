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

template <typename Real>
std::chrono::nanoseconds time_of_gradient(const Objective<Real>& objective, std::size_t batch) {
  std::vector<std::uint32_t> rows(batch == 0 ? objective.samples()
                                             : std::min(batch, objective.samples()));
  std::iota(rows.begin(), rows.end(), 0u);
  std::vector<Real> gradient(objective.dimension());
  const std::vector<Real> x = objective.start();
  std::vector<std::chrono::nanoseconds> times;
  for (int k = 0; k < 7; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    objective.gradient(x, rows, gradient);
    times.push_back(std::chrono::steady_clock::now() - begin);
  }
  std::ranges::nth_element(times, times.begin() + 3);
  return times[3];
}

template <typename Real>
ExpectedStaleness pilot_on_threads(const Objective<Real>& objective, TrainOptions options,
                                   double eta, std::vector<std::vector<Real>>& trajectory) {
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
ExpectedStaleness pilot_in_virtual_time(const Objective<Real>& objective, TrainOptions options,
                                        VirtualWorld world, bool compute_is_given) {
  if (!compute_is_given)
    world.compute = TimeModel::constant(std::max<Nanoseconds>(
        1, time_of_gradient(objective, resolved_batch(options, objective.samples())).count()));
  options = bare_run(options, 1);
  options.gradients = {std::clamp(3200 / static_cast<std::uint32_t>(options.workers), 20u, 100u)};
  options.batch = 0;
  // Only links with a bandwidth care how large a gradient is.
  const Nothing<Real> nothing(world.bandwidth ? objective.dimension() : 1);
  const auto result = run_simulation<Real>(nothing, options, world);
  if (result.failure) std::rethrow_exception(result.failure);
  return {result.summary.staleness,
          static_cast<double>(result.summary.gradients) / *result.summary.virtual_seconds,
          fmt::format("predicted: {} gradients of {} workers in virtual time{}",
                      result.summary.gradients, options.workers,
                      compute_is_given ? "" : ", a gradient as long as it takes here"),
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

template std::chrono::nanoseconds time_of_gradient(const Objective<float>&, std::size_t);
template std::chrono::nanoseconds time_of_gradient(const Objective<double>&, std::size_t);
template ExpectedStaleness pilot_on_threads(const Objective<float>&, TrainOptions, double,
                                            std::vector<std::vector<float>>&);
template ExpectedStaleness pilot_on_threads(const Objective<double>&, TrainOptions, double,
                                            std::vector<std::vector<double>>&);
template ExpectedStaleness pilot_in_virtual_time(const Objective<float>&, TrainOptions,
                                                 VirtualWorld, bool);
template ExpectedStaleness pilot_in_virtual_time(const Objective<double>&, TrainOptions,
                                                 VirtualWorld, bool);
template void walk(const Objective<float>&, const TrainOptions&, double,
                   std::vector<std::vector<float>>&);
template void walk(const Objective<double>&, const TrainOptions&, double,
                   std::vector<std::vector<double>>&);

}  // namespace dasgd
