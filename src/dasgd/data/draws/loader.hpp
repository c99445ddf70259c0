// Batches that are gathered before they are needed.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "dasgd/data/samples.hpp"

namespace dasgd {

/// A batch that is gathered once, by the loader or, if it has not begun yet, by whoever needs it:
/// nobody ever waits for a loader that is behind.
class PendingBatch {
 public:
  PendingBatch(const Samples& samples, Samples::Rows rows, std::optional<Random> chance,
               SampleBatch buffers)
      : samples_(samples),
        rows_(rows.begin(), rows.end()),
        chance_(chance),
        batch_(std::move(buffers)) {}

  bool is_for(Samples::Rows rows) const { return std::ranges::equal(rows, rows_); }
  /// The batch; the first caller gathers it.
  SampleBatch& get() {
    std::call_once(gathered_, [this] {
      samples_.gather(Part::train, rows_, chance_ ? &*chance_ : nullptr, batch_);
    });
    return batch_;
  }

 private:
  const Samples& samples_;
  const std::vector<std::uint32_t> rows_;
  std::optional<Random> chance_;
  std::once_flag gathered_;
  SampleBatch batch_;
};

/// One thread that gathers for all workers of an objective.
class Loader {
 public:
  Loader() : thread_([this](std::stop_token end) { work(end); }) {}

  void request(std::shared_ptr<PendingBatch> batch) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(batch));
    }
    ready_.notify_one();
  }

 private:
  void work(std::stop_token end);

  std::mutex mutex_;  // guards the queue
  std::condition_variable_any ready_;
  std::deque<std::shared_ptr<PendingBatch>> queue_;
  std::jthread thread_;
};

}  // namespace dasgd
