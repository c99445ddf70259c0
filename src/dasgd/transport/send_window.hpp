// How much is under way over one link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace dasgd {

/// What was sent and what the other end has confirmed. A link is free while fewer than `parcels`
/// are under way, or while those that are take few bytes together: what waits for it is bound to a
/// message as late as that. Owned by one thread.
class SendWindow {
 public:
  /// `few_bytes`: as many as a link carries at once, whatever their number.
  SendWindow(std::size_t parcels, std::size_t few_bytes)
      : parcels_(parcels), few_bytes_(few_bytes) {}

  bool is_free() const {
    return under_way_.size() < parcels_ ||
           (bytes_ < few_bytes_ && under_way_.size() < most_small_parcels);
  }
  void sent(std::size_t bytes) {
    under_way_.push_back(bytes);
    bytes_ += bytes;
  }
  /// So many of all that were sent have arrived. False for a number that cannot be.
  [[nodiscard]] bool confirm(std::uint64_t arrived) {
    if (arrived < confirmed_ || arrived - confirmed_ > under_way_.size()) return false;
    for (; confirmed_ < arrived; ++confirmed_) {
      bytes_ -= under_way_.front();
      under_way_.pop_front();
    }
    return true;
  }

  bool empty() const { return under_way_.empty(); }
  std::size_t size_in_bytes() const { return bytes_; }

 private:
  static constexpr std::size_t most_small_parcels = 64;

  const std::size_t parcels_, few_bytes_;
  std::deque<std::size_t> under_way_;  // bytes of each, oldest first
  std::size_t bytes_ = 0;
  std::uint64_t confirmed_ = 0;
};

}  // namespace dasgd
