// How much of a rank's trace may wait on rank 0.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace dasgd::cluster {

/// Lines that this rank has sent and that rank 0 has not handed to its disk yet. Where the disk is
/// slower than the run, the workers wait for it here: never a thread that receives.
class TraceWindow {
 public:
  static constexpr std::uint64_t most = std::uint64_t{1} << 16;  ///< lines, 7 MB

  /// So many more are about to be sent. Waits while `most` are under way.
  void send(std::uint64_t lines) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return under_way_ < most || open_; });
    under_way_ += lines;
  }
  /// Rank 0 has taken so many.
  void taken(std::uint64_t lines) {
    const std::lock_guard lock(mutex_);
    under_way_ -= lines < under_way_ ? lines : under_way_;
    room_.notify_all();
  }
  /// The run is to end: nobody waits any more.
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    room_.notify_all();
  }

 private:
  std::mutex mutex_;  // guards all below
  std::condition_variable room_;
  std::uint64_t under_way_ = 0;
  bool open_ = false;
};

}  // namespace dasgd::cluster
