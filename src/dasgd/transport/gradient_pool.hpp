// Recycled gradients with a bound on how many are in use.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// Hands out gradients whose buffers return here when their last holder lets go, on whatever thread
/// that is. At most `limit` are out at a time.
class GradientPool : public std::enable_shared_from_this<GradientPool> {
 public:
  using OnReturn = std::function<void(const Gradient&)>;

  /// `on_room` is called, on the returning thread, when a gradient comes back after `take` had to
  /// refuse one; `on_return`, where given, for every gradient that comes back.
  static std::shared_ptr<GradientPool> create(std::size_t limit, std::function<void()> on_room,
                                              OnReturn on_return = {});

  /// A gradient with unspecified content, or null while `limit` are out.
  std::shared_ptr<Gradient> take();

  /// No further calls of either. To be called before what they refer to goes away.
  void detach();

 private:
  GradientPool(std::size_t limit, std::function<void()> on_room, OnReturn on_return)
      : limit_(limit), on_room_(std::move(on_room)), on_return_(std::move(on_return)) {}
  void give_back(Gradient* gradient);

  const std::size_t limit_;
  std::mutex mutex_;  // guards all below
  std::function<void()> on_room_;
  OnReturn on_return_;
  std::vector<std::unique_ptr<Gradient>> free_;
  std::size_t allocated_ = 0;
  bool refused_ = false;
};

}  // namespace dasgd
