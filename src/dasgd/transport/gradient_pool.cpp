#include "dasgd/transport/gradient_pool.hpp"

#include <utility>

namespace dasgd {

std::shared_ptr<GradientPool> GradientPool::create(std::size_t limit, std::function<void()> on_room,
                                                   OnReturn on_return) {
  return std::shared_ptr<GradientPool>(
      new GradientPool(limit, std::move(on_room), std::move(on_return)));
}

std::shared_ptr<Gradient> GradientPool::take() {
  std::unique_ptr<Gradient> gradient;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      gradient = std::move(free_.back());
      free_.pop_back();
    } else if (allocated_ < limit_) {
      gradient = std::make_unique<Gradient>();
      ++allocated_;
    } else {
      refused_ = true;
      return nullptr;
    }
  }
  auto back = [pool = shared_from_this()](Gradient* g) { pool->give_back(g); };
  return {gradient.release(), std::move(back)};
}

void GradientPool::give_back(Gradient* gradient) {
  const std::lock_guard lock(mutex_);
  if (on_return_) on_return_(*gradient);
  free_.emplace_back(gradient);
  if (std::exchange(refused_, false) && on_room_) on_room_();
}

void GradientPool::detach() {
  const std::lock_guard lock(mutex_);
  on_room_ = nullptr;
  on_return_ = nullptr;
}

}  // namespace dasgd
