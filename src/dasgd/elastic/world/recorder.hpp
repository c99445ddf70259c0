// What the members of a simulated run did, in the numbers of its workers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/elastic/adoption/adoption_line.hpp"
#include "dasgd/elastic/world/sim_member.hpp"
#include "dasgd/run/worker_figures.hpp"

namespace dasgd::elastic {

/// Keeps the trace, the figures and the adoptions of a world. Members number each other in the
/// order in which they hear of each other; here they have the numbers of their workers.
template <typename Real>
class Recorder {
 public:
  Recorder(const TrainOptions& options, World<Real>& world, std::size_t workers)
      : options_(options), world_(world), workers_(workers) {}

  /// This worker has come, as the next member of the world.
  void comes(std::size_t worker) {
    numbers_[world_.protocol(worker_of_.size()).options().origin] = worker;
    worker_of_.push_back(worker);
  }
  std::size_t worker_of(std::size_t member) const { return worker_of_[member]; }

  void applied(std::size_t m, std::vector<TraceLine> lines) {
    applications_ += lines.size();
    for (TraceLine& line : lines) {
      sum_S_ += static_cast<double>(line.S.value_or(0));
      line.worker = worker_id(worker_of_[m]);
      line.name.origin = number_of(m, line.name.origin);
    }
    if (options_.figures && options_.figures->wants(applications_)) log_figures();
    if (options_.trace) lines_.insert(lines_.end(), lines.begin(), lines.end());
  }

  void adopts(std::size_t m, const Adoption& adoption, std::uint64_t t_before) {
    adoptions_ += adoption_line(adoption, t_before, world_.protocol(m).numbering(), world_.now(),
                                worker_of_[m]);
  }

  /// What is to be written once it is much, or at the end. Why that failed, if it did.
  std::exception_ptr flush(bool at_the_end) {
    if (at_the_end && options_.figures) log_figures();
    if (!options_.trace || (!at_the_end && lines_.size() < 4096)) return nullptr;
    options_.trace->add(WorkerId{0}, std::exchange(lines_, {}), world_.now());
    return options_.trace->failure();
  }

  const std::string& adoptions() const { return adoptions_; }

 private:
  void log_figures() {
    RunFigures f{.seconds = static_cast<double>(world_.now()) * 1e-9,
                 .applications = applications_};
    f.gradients_by_worker.resize(workers_);
    f.inbox_by_worker.resize(workers_);
    f.waited_by_worker.resize(workers_);
    FiguresOfWorkers all(f);
    for (std::size_t i = 0; i < world_.size(); ++i) {
      const SimMember<Real>& m = world_[i];
      WorkerFigures of_worker = figures_of(m.run);
      of_worker.computed = m.computed;
      if (!m.alive) of_worker.loss.reset();
      all.add(worker_of_[i], of_worker, m.alive ? m.protocol.inbox().depth() : 0);
    }
    options_.figures->add(std::move(f), sum_S_);
  }

  WorkerId number_of(std::size_t m, WorkerId theirs) {
    known_.resize(world_.size());
    std::vector<WorkerId>& known = known_[m];
    if (index(theirs) >= known.size()) {
      known.clear();
      for (const auto& [origin, name] : world_.protocol(m).numbering())
        known.push_back(worker_id(numbers_.at(origin)));
    }
    return known[index(theirs)];
  }

  const TrainOptions& options_;
  World<Real>& world_;
  const std::size_t workers_;
  std::vector<std::size_t> worker_of_;  // by member
  std::map<Origin, std::size_t> numbers_;
  std::vector<std::vector<WorkerId>> known_;  // by member: workers, by the numbers that it uses
  std::uint64_t applications_ = 0;
  double sum_S_ = 0;  // of all applications
  std::vector<TraceLine> lines_;
  std::string adoptions_;
};

}  // namespace dasgd::elastic
