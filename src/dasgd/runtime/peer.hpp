// One worker that your own training loop feeds with gradients.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/handover.hpp"

namespace dasgd {

/// Your loop computes, this does the rest: rounds and applies the gradient, sends it, and applies
/// what others have sent meanwhile.
///   Peer<float> peer(start, {.workers = 1, .eta = 0.05});
///   while (...) { ... gradient at peer.x() ...; if (!peer.step(gradient, loss)) break; }
///   const auto result = peer.finish();
/// Belongs to one thread. Nothing changes x between two steps.
template <typename Real>
class Peer {
 public:
  /// Runs this process's part of a run with one worker here: `run_training` alone, `train_ranks` on
  /// ranks. Nothing where another process has the result.
  using Engine =
      std::function<std::optional<TrainResult<Real>>(const Objective<Real>&, const TrainOptions&)>;

  /// `batch`: how many samples a gradient counts for. Throws what keeps the run from beginning.
  /// A run that others have ended already is not a failure: the first step says so.
  Peer(std::vector<Real> start, const TrainOptions& options, std::size_t batch = 1,
       Engine engine = alone());
  /// Without `finish` the run is stopped as by a signal.
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  /// Where the next gradient is to be computed: the model, or with look-ahead a point ahead of it.
  /// Always at the same place, and as it is until the next step; after `finish` it is the model.
  std::span<const Real> x() const { return handover_.x(); }

  /// False where somebody has written into the memory of `x`: the next step would overwrite it.
  bool x_is_the_replicas() const { return handover_.x_is_the_replicas(); }

  /// The model of all gradients that are applied here: what workers share. Between two steps.
  void copy_shared(std::span<Real> model) const { handover_.copy_shared(model); }

  /// One step with the gradient at x, of `samples` or else a batch, and its loss. False when the
  /// run is over, by a budget, a target, a stop or a failure, here or elsewhere: the gradient
  /// counts no longer.
  bool step(std::span<const Real> gradient, double loss = 0,
            std::optional<std::size_t> samples = {});
  /// The same in two parts, for callers that do something else while they wait: the gradient
  /// must stay where it is until `wait_for` has an answer.
  void give(std::span<const Real> gradient, double loss, std::optional<std::size_t> samples = {});
  std::optional<bool> wait_for(std::chrono::milliseconds limit) {
    return handover_.wait_for(limit);
  }

  /// Once a step was refused: throws the Divergence that has ended the run, if one has.
  void require_no_divergence() const;

  /// Gradients and samples in the model, those of all workers; legs before a resume do not count.
  std::uint64_t gradients() const { return applied_.gradients.load(std::memory_order_relaxed); }
  std::uint64_t samples() const { return applied_.samples.load(std::memory_order_relaxed); }

  /// No further gradients of this worker. Waits for those of all others and applies them: then all
  /// replicas are identical. Throws what failed.
  std::optional<TrainResult<Real>> finish();

  /// Ends the run as a signal would, here and elsewhere. Any thread.
  void request_stop() { stop_.request_stop(); }
  /// That, and waits for the end; `finish` reports what failed. Any thread, also beside `finish`.
  void close();

  /// One worker, this one: refuses options with another number of workers.
  static Engine alone();

 private:
  void wait_for_end();

  Handover<Real> handover_;
  TrainOptions options_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> stop_given_;
  Applied applied_;
  std::optional<TrainResult<Real>> result_;
  std::exception_ptr failure_;
  std::mutex joining_;   // who waits for the thread
  std::jthread thread_;  // last: it uses all above
};

extern template class Peer<float>;
extern template class Peer<double>;

}  // namespace dasgd
