// In how many bits a member or a rank sends its updates, by how long they wait for its links.
#pragma once

#include <algorithm>
#include <cstddef>

#include "dasgd/base/time.hpp"
#include "dasgd/core/message_format.hpp"

namespace dasgd {

/// The most bits with which a message brings two own gradients at most: with more of them, updates
/// come so late that few bits cost less than the delay. Now and then it tries more bits, ever more
/// seldom where that was too much.
class MessageChooser {
 public:
  MessageFormat format() const { return format_; }
  /// How many own gradients a message brought in the mean when the format was chosen; 0: it never
  /// changed.
  double waited() const { return waited_; }

  /// A message with so many own gradients leaves.
  void sent(std::size_t gradients, Nanoseconds now) {
    sum_ += gradients;
    counted_ += std::min(gradients, most_counted);
    if (++messages_ < looked_at) return;
    const double mean = static_cast<double>(sum_) / looked_at;
    const double counted = static_cast<double>(counted_) / looked_at;
    sum_ = counted_ = messages_ = 0;
    if (counted > most && format_ != MessageFormat::ternary) {
      if (tries_more_) pause_ *= 2;
      change(+1, mean, now);
      tries_more_ = false;
    } else if (counted < few && format_ != MessageFormat::full && now - since_ >= pause_) {
      change(-1, mean, now);
      tries_more_ = true;
    }
  }

 private:
  static constexpr std::size_t looked_at = 16;    // messages
  static constexpr std::size_t most_counted = 8;  // of one: the first to a newcomer has many
  static constexpr double most = 2, few = 1.25;

  void change(int by, double mean, Nanoseconds now) {
    format_ = static_cast<MessageFormat>(static_cast<int>(format_) + by);
    waited_ = mean;
    since_ = now;
  }

  MessageFormat format_ = MessageFormat::full;
  std::size_t sum_ = 0, counted_ = 0, messages_ = 0;
  double waited_ = 0;
  Nanoseconds since_ = 0, pause_ = 30'000'000'000;
  bool tries_more_ = false;
};

}  // namespace dasgd
