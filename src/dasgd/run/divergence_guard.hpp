// What a worker does when its model runs away.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/core/replica.hpp"
#include "dasgd/core/update_rule.hpp"
#include "dasgd/run/good_model.hpp"
#include "dasgd/run/options.hpp"

namespace dasgd {

/// Watches one worker's loss and stands between its update rule and its gradients: halving the step
/// size of later gradients is legal, because each gradient carries its own.
template <typename Real>
class DivergenceGuard final : public UpdateRule<Real> {
 public:
  /// A loss runs away when the mean of a worker's last 30 is above this many times the largest
  /// early one, ...
  static constexpr double runaway = 10;
  /// ... and stays there for this many times the staleness. The answer to a step comes late by as
  /// many applications as it is stale: workers that do not hear of each other for a while overshoot
  /// a minimum together, which is not a divergence when they come back.
  static constexpr std::uint64_t swings = 10;

  DivergenceGuard(WorkerId worker, UpdateRule<Real>& inner, const TrainOptions& options,
                  GoodModel<Real>& good)
      : worker_(worker),
        inner_(inner),
        policy_(options.on_divergence),
        given_eta_(options.eta),
        good_(good) {}

  double prepare(std::uint64_t t, Replica<Real>& replica, std::span<Real> gradient) override {
    eta_ = scale_ * inner_.prepare(t, replica, gradient);
    return eta_;
  }
  std::optional<Recipe> recipe() const override { return inner_.recipe(); }
  double step_size(std::uint64_t t) override {
    eta_ = scale_ * inner_.step_size(t);
    return eta_;
  }
  DirectionMemory<Real> memory() const override { return inner_.memory(); }
  void remember(DirectionMemory<Real> memory) override { inner_.remember(std::move(memory)); }
  Bytes state() const override {
    ByteWriter to;
    to.number(given_eta_);
    to.number(halvings_);
    to.number(raised_limit_);
    to.number(seen_);
    to.number(good_.early_loss());
    to.array(std::span<const std::byte>(inner_.state()));
    return to.take();
  }
  /// Another step size than before was chosen by somebody: it is not halved for what the old one
  /// did.
  bool restore(std::span<const std::byte> state) override {
    ByteReader from(state);
    const auto eta = from.number<double>();
    const auto halvings = from.number<std::uint32_t>();
    const auto raised_limit = from.number<double>();
    const auto seen = from.number<std::uint64_t>();
    const auto early_loss = from.number<double>();
    const auto inner = from.array<std::byte>();
    if (!from.ended_well()) return false;
    if (eta == given_eta_) {
      halvings_ = halvings;
      scale_ = std::ldexp(1.0, -static_cast<int>(halvings));
      raised_limit_ = raised_limit;
      seen_ = seen;
      good_.note_early_loss(early_loss);
    }
    return inner_.restore(inner);
  }

  /// After an own gradient, with t applications made: its loss, the mean of the last 30, the
  /// largest staleness so far, the replica. Throws LossDivergence when the loss has run away and
  /// the run is to stop.
  void observe(std::uint64_t t, double loss, double recent, std::uint64_t S_max,
               Replica<Real>& replica) {
    if (seen_ % offer_every == 0) good_.offer(recent, replica.x());
    if (seen_++ < settling && is_ordinary(loss)) good_.note_early_loss(loss);
    if (seen_ <= settling || recent <= limit()) {
      high_since_ = t;
    } else if (t - high_since_ > swings * (S_max + 1)) {
      if (policy_ == OnDivergence::stop)
        throw LossDivergence(worker_, good_.early_loss(), recent, eta_);
      halve(t, recent);
    }
  }

  /// Whether the worker goes on after an update that could not be made.
  bool survives() {
    if (policy_ == OnDivergence::stop || halvings_ >= most_halvings) return false;
    halve(high_since_, limit());
    return true;
  }

  std::uint32_t halvings() const { return halvings_; }

 private:
  static constexpr std::uint64_t settling = 30, offer_every = 64;
  static constexpr std::uint32_t most_halvings = 60;

  // A worker that starts late may meet a run that has run away already.
  bool is_ordinary(double loss) const {
    return std::isfinite(loss) && (good_.early_loss() == 0 || std::fabs(loss) <= limit());
  }
  double limit() const { return std::max(runaway * good_.early_loss(), raised_limit_); }

  // Gives the smaller steps time to show, and halves again if the loss still doubles.
  void halve(std::uint64_t t, double recent) {
    scale_ /= 2;
    ++halvings_;
    high_since_ = t;
    if (std::isfinite(recent)) raised_limit_ = 2 * recent;
  }

  const WorkerId worker_;
  UpdateRule<Real>& inner_;
  const OnDivergence policy_;
  const double given_eta_;
  GoodModel<Real>& good_;
  double scale_ = 1, eta_ = 0;
  double raised_limit_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t high_since_ = 0;  // application at which the loss was last not too high
  std::uint32_t halvings_ = 0;
};

}  // namespace dasgd
