// Recycled gradients, and how many are in use.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// Hands out gradients whose buffers return here when their last holder releases them, on whatever
/// thread that is. Up to `limit` buffers are kept for ever; what is taken beyond goes when it comes
/// back. `place` is asked for every gradient up to the limit where its numbers shall lie; those
/// that have a place are kept.
class GradientPool : public std::enable_shared_from_this<GradientPool> {
 public:
  using Place = std::function<std::span<std::byte>()>;

  static std::shared_ptr<GradientPool> create(std::size_t limit, Place place = {});

  /// A gradient with unspecified content, or null while `limit` are out.
  std::shared_ptr<Gradient> take();
  /// The same, but never null.
  std::shared_ptr<Gradient> take_beyond();

  /// How many buffers there have been at a time, at most.
  std::size_t most_allocated() const;

 private:
  GradientPool(std::size_t limit, Place place) : limit_(limit), place_(std::move(place)) {}
  std::shared_ptr<Gradient> take(std::size_t limit);
  void give_back(Gradient* gradient) noexcept;

  const std::size_t limit_;
  const Place place_;
  mutable std::mutex mutex_;                     // guards all below
  std::vector<std::unique_ptr<Gradient>> free_;  // has room for all that are out
  std::size_t allocated_ = 0, most_allocated_ = 0;
};

}  // namespace dasgd
