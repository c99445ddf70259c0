// A worker whose gradients are computed by somebody else's loop.
#pragma once

#include <chrono>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/objective.hpp"

namespace dasgd {

/// Two threads take turns: the caller's, which computes gradients wherever it likes, and that of
/// the only worker of a run in this process, which does everything else. While it is the caller's
/// turn the worker stands still, so its replica cannot change, and the gradient that comes is one
/// of the model that the caller saw.
template <typename Real>
class Handover final : public Objective<Real> {
 public:
  /// `batch`: how many samples a gradient counts for.
  Handover(std::vector<Real> start, std::size_t batch);

  // The caller's side.
  /// Waits for the first turn, or for every later one. False when the run is over: no gradient is
  /// wanted any more.
  bool wait();
  /// Where the caller computes: x, or with look-ahead the point ahead of it. Always at the same
  /// place: as it is in the caller's turn, and x itself at the end of the run.
  std::span<const Real> x() const { return x_; }
  /// Like `wait`, but not for longer than this; nothing: it is still the worker's turn.
  std::optional<bool> wait_for(std::chrono::milliseconds limit);
  /// The model of all that this worker has applied: what is shared, whatever x is. Only in the
  /// caller's turn, or when the run is over; else the last one.
  void copy_shared(std::span<Real> model) const;
  /// Whether x still has the bytes that were put there: somebody may have written into it, which no
  /// replica would follow. True when the run is over.
  bool x_is_the_replicas() const;
  /// Ends the turn with the gradient at x of so many samples and its loss. Its numbers must stay
  /// until the next turn.
  void give(std::span<const Real> gradient, double loss, std::optional<std::size_t> samples = {});
  /// Ends the turn: there will be no further gradient.
  void give_no_more();

  // The run's side.
  std::unique_ptr<SampleSource> make_samples();
  /// The run has ended, whatever the reason: nobody waits any more.
  void end();

  std::size_t dimension() const override { return start_.size(); }
  std::size_t samples() const override { return std::numeric_limits<std::uint32_t>::max(); }
  std::vector<Real> start() const override { return start_; }
  std::unique_ptr<Oracle<Real>> make_oracle(WorkerId) const override;
  /// Only the caller knows f.
  double loss(std::span<const Real>) const override {
    return std::numeric_limits<double>::quiet_NaN();
  }
  HeldOut evaluate(std::span<const Real>) const override { return {}; }
  double gradient(std::span<const Real> x, Rows rows, std::span<Real> gradient) const override;

 private:
  class Samples;
  class Given;
  class Kept;
  enum class Turn { worker, caller, over };

  Draw draw();

  const std::vector<Real> start_;
  const std::size_t batch_;                      // samples of a gradient, unless it says otherwise
  mutable Replica<Real>* replica_ = nullptr;     // the worker's
  mutable ComputePoint<Real>* point_ = nullptr;  // and where it computes

  mutable std::mutex mutex_;  // guards the next
  std::condition_variable turn_changed_;
  Turn turn_ = Turn::worker;
  bool given_ = false;  // a gradient that the worker has not taken yet
  bool no_more_ = false;

  // Of whose turn it is.
  mutable std::vector<Real> x_;
  std::span<const Real> gradient_;
  std::vector<std::uint32_t> rows_;  // as many as that counts for
  double loss_ = 0;
};

}  // namespace dasgd
