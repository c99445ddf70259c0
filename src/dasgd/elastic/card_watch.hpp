// What the network card of a member carries, as far as its own links show it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dasgd/base/time.hpp"
#include "dasgd/elastic/message.hpp"

namespace dasgd::elastic {

/// Means over about `window`. Called by the network's thread.
class CardWatch {
 public:
  explicit CardWatch(Nanoseconds window) : window_(static_cast<double>(window) * 1e-9) {}

  /// Now and then: over how many links sums travel, and for how many of those something waits.
  void look(std::size_t links, std::size_t waiting) {
    ++looks_;
    full_ += links > 0 && waiting == links ? 1 : 0;
    links_ = links;
  }
  /// Now and then: what was handed to all links so far, and how much of that has not left.
  void measure(std::uint64_t handed, std::uint64_t queued, double seconds) {
    const std::uint64_t left = std::max(left_, handed - std::min(handed, queued));
    const double rate = static_cast<double>(left - left_) / seconds;
    left_ = left;
    const double share = looks_ > 0 ? static_cast<double>(full_) / looks_ : 0;
    full_ = looks_ = 0;
    const double weight = std::min(1.0, seconds / window_);
    rate_ += weight * (rate - rate_);
    share_ += weight * (share - share_);
    card_.rate = static_cast<float>(rate_);
    card_.is_full = share_ > mostly;
    // A leaf may wait for its parent's card.
    if (card_.is_full && links_ > 1)
      card_.limit = card_.rate;
    else if (card_.limit > 0)
      card_.limit = std::max(card_.limit, card_.rate);
  }
  const Card& card() const { return card_; }

 private:
  friend struct StateOf;
  static constexpr double mostly = 0.8;  // then the mean rate has come close to what the card does
  const double window_;
  std::size_t links_ = 0;
  std::uint32_t looks_ = 0, full_ = 0;
  std::uint64_t left_ = 0;
  double rate_ = 0, share_ = 0;
  Card card_;
};

}  // namespace dasgd::elastic
