// Algorithm 1 of "Convergence Analysis of Decentralized ASGD" (Tosi, Theobald). One pass of its
// loop is `Worker::step()`; threads, processes and the simulator all call this same function.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/core/channel.hpp"
#include "dasgd/core/compute_point.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/core/few_bits.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/core/oracle.hpp"
#include "dasgd/core/replica.hpp"
#include "dasgd/core/samples.hpp"
#include "dasgd/core/update_rule.hpp"

namespace dasgd {

/// What one step did. The worker only reports; other classes do the accounting.
struct StepReport {
  enum class Kind {
    applied,         ///< one or more foreign gradients, in one pass over memory
    computed,        ///< an own gradient: computed, applied and sent
    no_sample_now,   ///< nothing waits and there is no sample, but there may be one later
    out_of_samples,  ///< nothing waits and there will be no further sample
  };
  Kind kind = Kind::out_of_samples;
  std::uint64_t step = 0;  ///< t before the first application
  /// Applied, in this order; valid until the next step or `release_applied`.
  std::span<const GradientFacts* const> gradients;
  bool folded = false;    ///< they came as one bundle
  double loss = 0;        ///< F(x_i^t, xi) of an own gradient
  Nanoseconds start = 0;  ///< when the computation of an own gradient began
  Nanoseconds time = 0;   ///< when the application was complete
};

/// One worker: its replica, its set of applied gradients, its counter. Owned by one thread.
template <typename Real>
class Worker {
 public:
  /// `fuse`: how many waiting gradients one step may apply; 1 shows every x_i^t to the outside.
  /// `ahead`: where it computes. `message`: in how many bits it sends its updates. All references
  /// must outlive the worker.
  Worker(WorkerId id, std::span<const Real> x0, std::unique_ptr<Oracle<Real>> oracle,
         UpdateRule<Real>& rule, SampleSource& samples, Channel& channel,
         std::size_t fuse = max_fused, LookAhead ahead = {},
         MessageFormat message = MessageFormat::full)
      : id_(id),
        oracle_(std::move(oracle)),
        rule_(rule),
        samples_(samples),
        channel_(channel),
        fuse_(fuse),
        replica_(oracle_->make_replica(x0)),
        point_(*replica_, id, ahead, gradients_averaged(rule.recipe().value_or(Recipe{}))) {
    if (message != MessageFormat::automatic) send_in(message);
    oracle_->computes_at(point_);
  }

  /// Lines 6 to 14 of Algorithm 1.
  StepReport step() {
    release_applied();
    send_ready();
    channel_.receive(fuse_, received_);               // line 6
    if (!received_.empty()) return apply_received();  // line 7
    const Draw draw = samples_.next();                // line 10
    if (draw.kind == Draw::Kind::batch) return compute_own(draw);
    send_all();
    return {.kind = draw.kind == Draw::Kind::none_now ? StepReport::Kind::no_sample_now
                                                      : StepReport::Kind::out_of_samples,
            .step = t()};
  }

  /// Holds no longer what the last step applied: to be called before anything that takes long, so
  /// that the buffers can be used again.
  void release_applied() {
    received_.clear();
    facts_.clear();
  }

  WorkerId id() const { return id_; }
  /// t, the number of applications so far; always |G_i^t|.
  std::uint64_t t() const { return applied_.size(); }
  /// G_i^t.
  const GradientSet& applied() const { return applied_; }
  /// How many gradients this worker has computed: the sequence of the next. Names are never used
  /// twice, even where what they named is no longer in G_i^t.
  std::uint32_t computed() const { return computed_; }
  /// How many samples are in the gradients of G_i^t.
  std::uint64_t samples() const { return samples_used_; }
  /// Copies that were applied although they had been applied before: 0, or a channel is broken.
  std::uint64_t duplicated() const { return duplicated_; }
  /// Keeps no more than its replica: no further gradient will be computed. Only between two steps.
  void end_computing() {
    release_applied();
    direction_ = std::vector<Real>();
    point_.forget();
  }
  /// Sends what was computed and is still waiting for a device. Only between two steps.
  void send_pending() { send_all(); }

  /// Goes on as x^0 plus the bundle of another set, whose sum is `sums` and which holds `samples`
  /// samples: this is not an application and has no staleness. Only between two steps.
  void adopt(GradientSet applied, std::span<const Sum<Real>> sums, std::uint64_t samples) {
    release_applied();
    replica_->restore(sums);
    applied_ = std::move(applied);
    samples_used_ = samples;
    point_.replaced(applied_.size_of(id_));  // own names may have been abandoned
  }

  /// Makes, applies and sends a gradient that no sample gave: x moves by -direction.
  StepReport move_by(std::span<const Real> direction) {
    release_applied();
    const auto own = blank();
    const Nanoseconds start = channel_.now();
    direction_.assign(direction.begin(), direction.end());
    own->samples = 0;
    own->eta = 1;
    apply_own(own);
    point_.replaced(applied_.size_of(id_) + 1);
    return give(own, start, 0);
  }

  Replica<Real>& replica() { return *replica_; }
  const Replica<Real>& replica() const { return *replica_; }
  Oracle<Real>& oracle() { return *oracle_; }
  const Oracle<Real>& oracle() const { return *oracle_; }
  const ComputePoint<Real>& point() const { return point_; }
  /// In how many bits it sends its updates from now on.
  void send_in(MessageFormat message) {
    if (few_bits_) return few_bits_->set_format(message);
    if (message != MessageFormat::full) few_bits_.emplace(message, replica_->dimension());
  }
  /// Makes, applies and sends one more gradient, with what rounding has left.
  StepReport send_residual() {
    send_in(MessageFormat::full);
    return move_by(std::vector<Real>(replica_->dimension()));
  }
  bool has_residual() const { return few_bits_ && few_bits_->residual_norm() > 0; }
  /// Its next updates also bring this: what rounding in an earlier leg had left to be sent, here or
  /// at another worker.
  void add_residual(std::span<const Sum<Real>> residual) {
    if (!few_bits_) few_bits_.emplace(MessageFormat::full, residual.size());
    few_bits_->add_residual(residual);
  }
  /// What rounding has left to be sent; std::nullopt where messages were always full.
  const std::optional<FewBits<Real>>& few_bits() const { return few_bits_; }

 private:
  StepReport apply_received() {
    const std::uint64_t t_before = t();
    if (const Bundle* bundle = received_.bundle.get()) {
      replica_->apply(*bundle);  // line 8
      bundle->for_each([this](const GradientFacts& g) { facts_.push_back(&g); });
    } else {
      replica_->apply(received_.gradients);
      for (const GradientPtr& g : received_.gradients) facts_.push_back(g.get());
    }
    for (const GradientFacts* g : facts_) remember(*g);  // line 9: t = t + 1
    for (const GradientFacts* g : facts_) point_.applied(*g);
    const Nanoseconds time = channel_.now();
    channel_.applied(received_);
    return {.kind = StepReport::Kind::applied,
            .step = t_before,
            .gradients = facts_,
            .folded = received_.bundle != nullptr,
            .time = time};
  }

  StepReport compute_own(const Batch& batch) {
    // A device makes an update where an earlier one was. Others need a buffer when they round:
    // those that come back meanwhile can be used again.
    auto own = !few_bits_ && oracle_->makes_whole_steps() ? blank() : nullptr;
    const Nanoseconds start = channel_.now() - batch.under_way;
    const double loss = make(batch, own);  // lines 11 and 12
    own->samples = static_cast<std::uint32_t>(batch.rows.size());
    return give(std::move(own), start, loss);
  }

  // The next gradient of this worker, but for its numbers.
  std::shared_ptr<Gradient> blank() {
    auto own = channel_.blank();
    while (applied_.contains({id_, computed_})) ++computed_;  // names that others made up
    own->name = {id_, computed_};
    own->origin_step = t();
    own->compute_set = applied_;
    return own;
  }

  StepReport give(std::shared_ptr<Gradient> own, Nanoseconds start, double loss) {
    const std::uint64_t t_before = t();
    ++computed_;
    remember(*own);  // line 14: t = t + 1
    const Nanoseconds time = channel_.now();
    received_.gradients.push_back(own);
    facts_.push_back(own.get());
    unsent_.push_back(std::move(own));
    send_ready();  // line 13
    return {.kind = StepReport::Kind::computed,
            .step = t_before,
            .gradients = facts_,
            .loss = loss,
            .start = start,
            .time = time};
  }

  // Computes the update and applies it; returns the loss.
  double make(const Batch& batch, std::shared_ptr<Gradient>& own) {
    if (own) {
      if (const auto whole = oracle_->whole_step(point_, batch, rule_, t(), own->update)) {
        own->eta = whole->eta;
        if (const auto& d = whole->divergence) {
          point_.replaced(applied_.size_of(id_));
          throw DivergenceError(id_, {id_, own->name.sequence - d->steps_ago}, d->coordinate,
                                d->value, d->eta);
        }
        return whole->loss;
      }
    }
    direction_.resize(replica_->dimension());
    const double loss = oracle_->gradient(point_, batch, direction_);
    if (!own) own = blank();
    own->eta = rule_.prepare(t(), *replica_, direction_);
    apply_own(own);
    point_.made(own->eta, direction_);
    return loss;
  }

  // A gradient that a device still computes is sent when it is there: no other worker is to wait
  // for it.
  void send_ready() {
    while (!unsent_.empty() && unsent_.front()->update.ready()) send_first();
  }
  // There will be nothing to compute meanwhile.
  void send_all() {
    while (!unsent_.empty()) send_first();
  }
  void send_first() {
    channel_.send(std::move(unsent_.front()));
    unsent_.pop_front();
  }

  // A gradient that diverges is neither applied nor sent.
  void apply_own(const std::shared_ptr<Gradient>& own) {
    if (const auto out_of_range = replica_->diverged_at())
      throw DivergenceError(id_, own->name, *out_of_range, replica_->x()[*out_of_range], own->eta);
    const auto step = few_bits_ ? few_bits_->make(own->eta, direction_, own->update)
                                : replica_->apply_own(own->eta, direction_, own->update);
    if (step) throw DivergenceError(id_, own->name, *step, direction_[*step], own->eta);
    if (!few_bits_) return;
    const GradientPtr rounded = own;
    replica_->apply(std::span(&rounded, 1));
  }

  void remember(const GradientFacts& g) {
    duplicated_ += applied_.insert(g.name) ? 0 : 1;
    samples_used_ += g.samples;
  }

  const WorkerId id_;
  const std::unique_ptr<Oracle<Real>> oracle_;
  UpdateRule<Real>& rule_;
  SampleSource& samples_;
  Channel& channel_;
  const std::size_t fuse_;

  const std::unique_ptr<Replica<Real>> replica_;  // x_i^t
  ComputePoint<Real> point_;                      // y, where gradients are computed
  GradientSet applied_;                           // G_i^t
  std::vector<Real> direction_;                   // g_i^t, before it is rounded
  std::optional<FewBits<Real>> few_bits_;         // where updates are sent in few bits
  std::deque<GradientPtr> unsent_;                // own, in the order of their names
  Received received_;                             // what this step applies
  std::vector<const GradientFacts*> facts_;       // the same, one by one
  std::uint32_t computed_ = 0;
  std::uint64_t duplicated_ = 0, samples_used_ = 0;
};

}  // namespace dasgd
