#include "dasgd/transport/gradient_pool.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace dasgd {

std::shared_ptr<GradientPool> GradientPool::create(std::size_t limit, Place place) {
  return std::shared_ptr<GradientPool>(new GradientPool(limit, std::move(place)));
}

std::shared_ptr<Gradient> GradientPool::take() { return take(limit_); }

std::shared_ptr<Gradient> GradientPool::take_beyond() {
  return take(std::numeric_limits<std::size_t>::max());
}

std::shared_ptr<Gradient> GradientPool::take(std::size_t limit) {
  std::unique_ptr<Gradient> gradient;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      gradient = std::move(free_.back());
      free_.pop_back();
    } else if (allocated_ < limit) {
      // Who gives one back may have no memory left.
      if (free_.capacity() == allocated_) free_.reserve(2 * allocated_ + 1);
      gradient = std::make_unique<Gradient>();
      if (place_ && allocated_ < limit_) gradient->update.settle(place_());
      most_allocated_ = std::max(most_allocated_, ++allocated_);
    } else {
      return nullptr;
    }
  }
  auto back = [pool = shared_from_this()](Gradient* g) { pool->give_back(g); };
  return {gradient.release(), std::move(back)};
}

void GradientPool::give_back(Gradient* gradient) noexcept {
  std::unique_ptr<Gradient> back(gradient);  // goes when the lock is free again
  const std::lock_guard lock(mutex_);
  if (allocated_ > limit_ && !back->update.is_settled()) {
    --allocated_;
  } else {
    free_.push_back(std::move(back));
  }
}

std::size_t GradientPool::most_allocated() const {
  const std::lock_guard lock(mutex_);
  return most_allocated_;
}

}  // namespace dasgd
