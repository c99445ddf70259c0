#include "dasgd/lab/referee/contest/real_dasgd.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/lab/referee/contest/clocked.hpp"
#include "dasgd/topology/graph.hpp"

namespace dasgd {
namespace {

/// Turns the progress of a run into looks at it.
template <typename Real>
class Looks {
 public:
  Looks(const Objective<Real>& objective, const TrainOptions& options,
        const Observer<Real>& observer)
      : observer_(observer),
        graph_(graph_of(options)),
        relayed_(relay_of(options, graph_) != RelayMode::none),
        bytes_(objective.dimension() * sizeof(Number<Real>)) {
    const auto x0 = objective.start();
    const std::vector<std::span<const Real>> models{x0};
    observer_.look({.models = models});
  }

  Flow operator()(const Progress<Real>& progress) {
    if (over_) return Flow::stop;  // a run reports its end as well
    const auto model = progress.model();
    const auto now = static_cast<Nanoseconds>(progress.seconds * 1e9);
    if (model.empty() || now < next_) return Flow::go_on;
    next_ = (now / observer_.every + 1) * observer_.every;
    return look(progress, model, now) ? Flow::stop : Flow::go_on;
  }
  bool over() const { return over_; }

 private:
  bool look(const Progress<Real>& progress, std::span<const Real> model, Nanoseconds now) {
    const std::size_t n = progress.gradients_by_worker.size();
    std::vector<NodeUse> nodes(n);
    for (std::size_t i = 0; i < n; ++i) {
      // A foreign gradient goes on to all neighbours but the one that it came from.
      const std::uint64_t own = progress.gradients_by_worker[i], foreign = progress.gradients - own;
      const std::size_t neighbours = graph_.neighbours(worker_id(i)).size();
      const std::uint64_t sent =
          own * neighbours + (relayed_ && neighbours > 0 ? foreign * (neighbours - 1) : 0);
      nodes[i] = {.busy = now - static_cast<Nanoseconds>(progress.waited_by_worker[i] * 1e9),
                  .messages = sent,
                  .sent = sent * bytes_,
                  .received = foreign * bytes_,
                  .kept = model.size() * (sizeof(Sum<Real>) + 2 * sizeof(Real))};
    }
    const std::vector<std::span<const Real>> models{model};
    over_ = observer_.look({.time = now,
                            .models = models,
                            .nodes = nodes,
                            .gradients = progress.gradients,
                            .samples = progress.samples});
    return over_;
  }

  const Observer<Real>& observer_;
  const Graph graph_;
  const bool relayed_;
  const std::size_t bytes_;
  Nanoseconds next_ = 1;
  bool over_ = false;
};

}  // namespace

template <typename Real>
PlayResult perform_dasgd(const Objective<Real>& objective, const TrainOptions& options,
                         const VirtualWorld& world, const Observer<Real>* observer,
                         const TrainFor<Real>& train) {
  require_real_links(world);
  const Clocked<Real> clocked(objective, options, world);
  TrainOptions mine = options;
  mine.slow.clear();  // the clocks have it
  mine.time_factors.clear();
  std::optional<Looks<Real>> looks;
  std::vector<Callback<Real>> callbacks;
  if (observer) {
    mine.report_every =
        std::chrono::milliseconds(std::clamp<Nanoseconds>(observer->every / 20'000'000, 1, 20));
    looks.emplace(objective, options, *observer);
    callbacks.push_back(std::ref(*looks));
  }
  const auto result = train(clocked, mine, callbacks);
  if (!result || !looks) return {};
  const RunSummary& summary = result->summary;
  if (result->failure && summary.stop_reason != StopReason::diverged)
    std::rethrow_exception(result->failure);
  return {.reason = looks->over() ? StopReason::target : summary.stop_reason,
          .seconds = summary.wall_seconds,
          .gradients = summary.gradients,
          .samples = summary.samples,
          .S_avg = summary.staleness.S_avg,
          .S_max = static_cast<double>(summary.staleness.S_max)};
}

template PlayResult perform_dasgd(const Objective<float>&, const TrainOptions&, const VirtualWorld&,
                                  const Observer<float>*, const TrainFor<float>&);
template PlayResult perform_dasgd(const Objective<double>&, const TrainOptions&,
                                  const VirtualWorld&, const Observer<double>*,
                                  const TrainFor<double>&);

}  // namespace dasgd
