// How many gradients the workers make: each for itself, and all together.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "dasgd/core/names.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/core/samples.hpp"
#include "dasgd/run/options.hpp"

namespace dasgd {

inline constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

/// What all workers together may use up, legs before a resume included.
struct Budget {
  std::optional<std::uint64_t> gradients, samples;

  bool has_room(std::uint64_t gradients_made, std::uint64_t samples_used) const {
    return gradients_made < gradients.value_or(std::numeric_limits<std::uint64_t>::max()) &&
           samples_used < samples.value_or(std::numeric_limits<std::uint64_t>::max());
  }
};

/// The budget that the options give to all workers together: `total_gradients`, and `epochs` times
/// the samples of the data set. Where nothing ends the run, one pass over the data.
Budget shared_budget(const TrainOptions& options, std::size_t samples);

/// The number of gradients of worker i alone, in all legs.
std::uint32_t gradient_limit(const TrainOptions& options, WorkerId worker, std::size_t samples);

/// How many gradients a run will make in all, where budgets determine it: what schedules run
/// towards.
std::optional<double> planned_gradients(const TrainOptions& options, std::size_t samples);

/// What all workers have done together, as far as this process knows, held against the budget. Any
/// thread. On threads and in virtual time every gradient is counted when its samples are drawn, so
/// nothing is made beyond the budget but the rest of the last batch; between processes those of
/// others count when they arrive, and what is under way comes on top.
class SharedBudget {
 public:
  /// `on_used_up` is called once, by whoever uses up the last of it here or hears of it.
  SharedBudget(const TrainOptions& options, std::size_t samples,
               std::function<void()> on_used_up = {});

  /// A gradient of so many samples is about to be computed here: counted, unless the budget is used
  /// up.
  bool claim(std::size_t samples);
  /// One of another process has arrived.
  void hear(std::size_t samples);
  /// Whether the next claim would be refused: nobody needs to wait for a sample then.
  bool is_used_up() const { return used_up_.load(std::memory_order_relaxed); }

 private:
  /// Counts a gradient; true if there was room for it.
  bool count(std::size_t samples);

  const Budget budget_;
  const std::function<void()> on_used_up_;
  std::atomic<std::uint64_t> gradients_, samples_;
  std::atomic<bool> used_up_;
};

/// The samples of one worker until its own limit, the shared budget or a stop ends them. `stopped`
/// and `shared` must outlive this.
class BudgetedSamples final : public SampleSource {
 public:
  /// `may_compute`, where given, says whether samples may be drawn now.
  BudgetedSamples(std::unique_ptr<SampleSource> source, std::uint32_t limit, std::uint64_t computed,
                  SharedBudget& shared, const std::atomic<bool>& stopped,
                  std::function<bool()> may_compute = {})
      : source_(std::move(source)),
        may_compute_(std::move(may_compute)),
        limit_(limit),
        shared_(shared),
        stopped_(stopped),
        computed_(computed) {}

  Draw next() override {
    prepare();
    prepared_ = false;
    if (draw_.kind == Draw::Kind::batch) {
      ++computed_;
      samples_ += draw_.rows.size();
    }
    return draw_;
  }
  /// Draws what `next` will give, and counts it for the shared budget: a simulation decides in its
  /// own order who gets the last of it, and lets other cores compute.
  Draw::Kind prepare() {
    if (!prepared_) draw_ = draw();
    prepared_ = draw_.kind != Draw::Kind::none_now;  // that may be another a moment later
    return draw_.kind;
  }

  /// The rows of a batch that was prepared.
  Rows prepared() const { return draw_.rows; }

  /// The last batch became no gradient: `next` gives it again, and it is counted once. So every
  /// draw has a name, and a resumed run repeats none.
  void give_again() {
    prepared_ = true;
    --computed_;
    samples_ -= draw_.rows.size();
  }

  void on_arrival(std::function<void()> wake) override { source_->on_arrival(std::move(wake)); }

  /// Whether `next` has said that there is no more.
  bool ended() const { return ended_; }
  /// Gradients of this worker in all, those of earlier legs included.
  std::uint32_t limit() const { return limit_; }
  /// Samples handed out so far.
  std::uint64_t samples() const { return samples_; }

 private:
  Draw draw() {
    if (ended_ || computed_ >= limit_ || stopped_.load(std::memory_order_relaxed)) return end();
    if (shared_.is_used_up()) return end();
    if (may_compute_ && !may_compute_()) return Draw::none_now();
    const Draw draw = source_->next();
    if (draw.kind == Draw::Kind::no_more) return end();
    if (draw.kind == Draw::Kind::batch && !shared_.claim(draw.rows.size())) return end();
    return draw;
  }
  Draw end() {
    ended_ = true;
    return Draw::no_more();
  }

  const std::unique_ptr<SampleSource> source_;
  const std::function<bool()> may_compute_;
  const std::uint32_t limit_;
  SharedBudget& shared_;
  const std::atomic<bool>& stopped_;
  std::uint64_t computed_;  // against the limit
  std::uint64_t samples_ = 0;
  Draw draw_;
  bool prepared_ = false, ended_ = false;
};

/// The labels of all samples where workers draw by them, else none.
template <typename Real>
std::vector<std::uint32_t> needed_labels(const TrainOptions& options,
                                         const Objective<Real>& objective) {
  const bool needed = options.sampling.kind == Sampling::dirichlet && !options.make_samples;
  return needed ? objective.labels() : std::vector<std::uint32_t>();
}

/// The samples of worker i as the options want them, over a data set of so many.
BudgetedSamples make_samples(const TrainOptions& options, WorkerId worker, std::size_t samples,
                             SharedBudget& shared, const std::atomic<bool>& stopped,
                             std::vector<std::uint32_t> labels = {});

}  // namespace dasgd
