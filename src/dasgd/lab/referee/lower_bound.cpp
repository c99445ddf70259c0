#include "dasgd/lab/referee/lower_bound.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "dasgd/data/draws/batches.hpp"
#include "dasgd/run/budget.hpp"

namespace dasgd {
namespace {

constexpr std::size_t draws_of_a_clock = 32, batches_at_the_start = 64;

double mean_draw(const TimeModel& model, std::uint64_t seed, Purpose purpose, std::size_t item) {
  double sum = 0;
  for (std::uint64_t k = 0; k < draws_of_a_clock; ++k)
    sum += static_cast<double>(model.draw(seed, purpose, item, k));
  return sum / static_cast<double>(draws_of_a_clock) * 1e-9;
}

template <typename Real>
double variance_at_start(const Objective<Real>& objective, const TrainOptions& options) {
  const std::size_t samples = objective.samples();
  if (!gradients_have_noise(options, samples)) return 0;
  Batches batches({options.seed, options.sampling, options.workers, samples,
                   resolved_batch(options, samples), needed_labels(options, objective)},
                  worker_id(0));
  const std::vector<Real> x0 = objective.start();
  std::vector<Real> whole(x0.size()), part(x0.size());
  objective.full_gradient(x0, whole);
  double sum = 0;
  for (std::size_t k = 0; k < batches_at_the_start; ++k) {
    objective.gradient(x0, batches.next().rows, part);
    for (std::size_t i = 0; i < part.size(); ++i) {
      const double difference = static_cast<double>(part[i]) - static_cast<double>(whole[i]);
      sum += difference * difference;
    }
  }
  return sum / static_cast<double>(batches_at_the_start);
}

}  // namespace

double lower_bound(const BoundTerms& terms, const std::vector<double>& h,
                   const std::vector<std::vector<double>>& tau) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < h.size(); ++j) {
    std::vector<std::size_t> order(h.size());
    std::iota(order.begin(), order.end(), 0);
    const auto reach = [&](std::size_t i) { return std::max(tau[j][i], h[i]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return reach(a) < reach(b); });
    double rate = 0;
    for (const std::size_t k : order) {
      rate += 1 / h[k];
      least = std::min(least, std::max(reach(k), terms.sigma2 / terms.eps / rate));
    }
  }
  return terms.L * terms.Delta / terms.eps * least;
}

template <typename Real>
std::optional<double> lower_bound_seconds(const Objective<Real>& objective, const Contest& contest,
                                          const ContestWorld& world) {
  if (contest.goal.kind != Goal::Kind::error || !world.world.latency_of_link.empty())
    return std::nullopt;
  const KnownConstants known = objective.known();
  if (!known.smoothness || !known.least_loss) return std::nullopt;
  const TrainOptions& options = world.options;
  const BoundTerms terms{*known.smoothness, objective.loss(objective.start()) - *known.least_loss,
                         contest.goal.value * contest.goal.value,
                         variance_at_start(objective, options)};
  const Graph graph = graph_of(options);
  const double latency = mean_draw(world.world.latency, contest.seed, Purpose::latency, 0);
  std::vector<double> h;
  std::vector<std::vector<double>> tau;
  for (std::size_t i = 0; i < options.workers; ++i) {
    h.push_back(mean_draw(world.world.compute, contest.seed, Purpose::compute_time, i) *
                slow_factor(options, worker_id(i)));
    tau.emplace_back();
    for (const std::size_t hops : hops_from(graph, worker_id(i)))
      tau.back().push_back(latency * static_cast<double>(hops));
  }
  return lower_bound(terms, h, tau);
}

template std::optional<double> lower_bound_seconds(const Objective<float>&, const Contest&,
                                                   const ContestWorld&);
template std::optional<double> lower_bound_seconds(const Objective<double>&, const Contest&,
                                                   const ContestWorld&);

}  // namespace dasgd
