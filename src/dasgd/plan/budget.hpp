// How many gradients a worker makes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dasgd/core/channel.hpp"
#include "dasgd/data/batches.hpp"
#include "dasgd/data/position.hpp"
#include "dasgd/plan/leg.hpp"
#include "dasgd/plan/options.hpp"

namespace dasgd {

inline constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();

/// The samples of one worker until its budget is used up or the run is stopped.
class BudgetedBatches final : public SampleSource {
 public:
  /// `stopped` is looked at before every batch and must outlive this.
  BudgetedBatches(Batches batches, std::uint32_t limit, const std::atomic<bool>& stopped)
      : batches_(std::move(batches)), limit_(limit), stopped_(stopped) {}

  /// Goes on after what was done before; done batches count for the limit and are not drawn again.
  void continue_from(const WorkerStart& start) {
    made_ = start.made;
    at_ = start.data.next;
    done_ahead_ = start.data.ahead;
    batches_.seek(at_);
  }

  std::optional<std::span<const std::uint32_t>> next() override {
    if (made_ >= limit_ || stopped_.load(std::memory_order_relaxed)) return std::nullopt;
    if (!done_ahead_.empty() && at_ == done_ahead_.front()) skip_done();
    const auto rows = batches_.next();
    if (rows) {
      ++at_;
      ++made_;
      samples_ += rows->size();
    }
    return rows;
  }

  std::uint64_t position() const override { return at_ - 1; }
  std::optional<std::span<const std::uint32_t>> upcoming() const override {
    return has_next() ? batches_.upcoming() : std::nullopt;
  }

  /// Whether `next` would give a batch now.
  bool has_next() const {
    return made_ < limit_ && !stopped_.load(std::memory_order_relaxed) && batches_.per_epoch() > 0;
  }
  /// Batches in all, those before `continue_from` included.
  std::uint32_t limit() const { return limit_; }
  /// Samples handed out so far.
  std::uint64_t samples() const { return samples_; }

 private:
  void skip_done() {
    std::size_t skipped = 0;
    for (; skipped < done_ahead_.size() && done_ahead_[skipped] == at_; ++skipped) ++at_;
    done_ahead_.erase(done_ahead_.begin(),
                      done_ahead_.begin() + static_cast<std::ptrdiff_t>(skipped));
    batches_.seek(at_);
  }

  Batches batches_;
  const std::uint32_t limit_;
  const std::atomic<bool>& stopped_;
  std::uint64_t made_ = 0;  // against the limit
  std::uint64_t at_ = 0;    // the batch that comes next
  std::vector<std::uint64_t> done_ahead_;
  std::uint64_t samples_ = 0;
};

/// The number of gradients of worker i in all legs: the smallest of what the options allow.
inline std::uint32_t gradient_limit(const TrainOptions& options, WorkerId worker,
                                    std::size_t per_epoch, bool mini_batches,
                                    const WorkerStart& start = {}) {
  std::uint32_t limit = unlimited;
  if (!options.gradients.empty())
    limit = options.gradients.size() == 1 ? options.gradients[0] : options.gradients[index(worker)];
  const auto passes = [&](double epochs) {
    const double batches = std::ceil(epochs * static_cast<double>(per_epoch));
    const double left = std::max(0.0, batches - static_cast<double>(start.data.done()));
    const double all = left + static_cast<double>(start.made);
    return all < unlimited ? static_cast<std::uint32_t>(all) : unlimited;
  };
  if (options.epochs) limit = std::min(limit, passes(*options.epochs));
  const bool open_ended = options.gradients.empty() && !options.epochs;
  if (open_ended && !ends_without_budget(options)) limit = mini_batches ? passes(1) : 1000;
  return limit;
}

/// The samples of worker i as the options want them; `batch` is the resolved batch size.
inline BudgetedBatches make_samples(const TrainOptions& options, WorkerId worker,
                                    std::size_t samples, std::size_t batch,
                                    const std::atomic<bool>& stopped) {
  Batches batches(options.seed, worker, options.workers, samples, batch);
  const std::size_t per_epoch = batches.per_epoch();
  WorkerStart start;
  if (options.resume) start = worker_starts(options, samples)[index(worker)];
  const auto limit =
      per_epoch == 0 ? 0 : gradient_limit(options, worker, per_epoch, batch > 0, start);
  BudgetedBatches result(std::move(batches), limit, stopped);
  if (options.resume) result.continue_from(start);
  return result;
}

}  // namespace dasgd
