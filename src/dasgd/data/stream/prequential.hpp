// Test, then train: how well samples were answered before anybody learned from them.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace dasgd {

/// The share of right answers among the last samples, batch by batch. Any thread may call any of
/// it.
class Prequential {
 public:
  /// Old batches go as long as this many samples remain.
  static constexpr std::size_t window = 1000;

  void add(std::size_t right, std::size_t samples) {
    const std::lock_guard lock(mutex_);
    batches_.emplace_back(right, samples);
    right_ += right;
    samples_ += samples;
    while (samples_ - batches_.front().second >= window) {
      right_ -= batches_.front().first;
      samples_ -= batches_.front().second;
      batches_.pop_front();
    }
  }
  std::optional<double> accuracy() const {
    const std::lock_guard lock(mutex_);
    if (samples_ == 0) return std::nullopt;
    return static_cast<double>(right_) / static_cast<double>(samples_);
  }

 private:
  mutable std::mutex mutex_;  // guards all below
  std::deque<std::pair<std::size_t, std::size_t>> batches_;
  std::size_t right_ = 0, samples_ = 0;
};

}  // namespace dasgd
