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
  inbox_.take(limit, waiting, received_from_);
}

std::shared_ptr<Gradient> Node::blank() { return hub_.has_room(self_) ? pool_->take() : nullptr; }

void Node::send(GradientPtr gradient) { hub_.send(std::move(gradient)); }

void Node::applied(std::span<const GradientPtr> gradients) {
  hub_.applied(gradients, received_from_);
}

void Node::announce(std::uint32_t computed) { hub_.announce({self_, computed}); }

std::optional<std::uint64_t> Node::announced_total() const { return hub_.announced_total(); }

std::uint64_t Node::copies_dropped() const { return hub_.copies_dropped(self_); }

void Node::deliver(const GradientPtr& gradient, int from_rank) {
  {
    const std::lock_guard lock(inbox_.mutex());
    inbox_.add(gradient, from_rank);
  }
  inbox_.wake();
}

}  // namespace dasgd::mpi
