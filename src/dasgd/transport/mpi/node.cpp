#include "dasgd/transport/mpi/node.hpp"

#include <utility>

namespace dasgd::mpi {

Node::Node(WorkerId self, std::size_t in_flight, std::function<Nanoseconds()> clock, Hub& hub)
    : self_(self),
      clock_(std::move(clock)),
      hub_(hub),
      pool_(GradientPool::create(in_flight, [this] { wake(); })) {}

Node::~Node() { pool_->detach(); }

void Node::receive(std::size_t limit, std::vector<GradientPtr>& waiting) {
  received_from_.clear();
  const std::lock_guard lock(mutex_);
  for (; limit > 0 && !inbox_.empty(); --limit) {
    received_from_.push_back(inbox_.front().from_rank);
    waiting.push_back(std::move(inbox_.front().gradient));
    inbox_.pop_front();
  }
}

std::shared_ptr<Gradient> Node::blank() { return hub_.has_room(self_) ? pool_->take() : nullptr; }

void Node::send(GradientPtr gradient) { hub_.send(std::move(gradient)); }

void Node::applied(std::span<const GradientPtr> gradients) {
  hub_.applied(gradients, received_from_);
}

void Node::announce(std::uint32_t computed) { hub_.announce({self_, computed}); }

std::optional<std::uint64_t> Node::announced_total() const { return hub_.announced_total(); }

void Node::wait(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  waiting_ = true;
  wakeup_.wait_for(lock, limit, [this] { return woken_ || !inbox_.empty(); });
  waiting_ = false;
  woken_ = false;
}

void Node::wake() {
  bool notify = false;
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    notify = waiting_;
  }
  if (notify) wakeup_.notify_one();
}

std::size_t Node::inbox_depth() const {
  const std::lock_guard lock(mutex_);
  return inbox_.size();
}

std::uint64_t Node::copies_dropped() const { return hub_.copies_dropped(self_); }

void Node::deliver(const GradientPtr& gradient, int from_rank) {
  {
    const std::lock_guard lock(mutex_);
    inbox_.push_back({gradient, from_rank});
  }
  wake();
}

void Node::clear() {
  std::deque<Waiting> inbox;
  const std::lock_guard lock(mutex_);
  std::swap(inbox, inbox_);
}

}  // namespace dasgd::mpi
