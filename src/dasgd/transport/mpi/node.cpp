#include "dasgd/transport/mpi/node.hpp"

#include <thread>
#include <utility>

namespace dasgd::mpi {

RankNode::RankNode(WorkerId self, std::size_t in_flight, std::function<Nanoseconds()> clock,
                   Hub& hub, GradientPool::Place place)
    : self_(self),
      clock_(std::move(clock)),
      hub_(hub),
      pool_(GradientPool::create(in_flight, std::move(place))) {}

void RankNode::receive(std::size_t limit, Received& received) {
  inbox_.take(limit, received, received_from_);
}

// What links that are behind hold is folded by the progress thread.
std::shared_ptr<Gradient> RankNode::blank() {
  if (auto gradient = pool_->take()) return gradient;
  const Nanoseconds start = clock_();
  hub_.fold(self_);
  auto gradient = pool_->take_beyond();
  waited_.fetch_add(clock_() - start, std::memory_order_relaxed);
  return gradient;
}

// Where gradients take microseconds and cores are scarce, the worker would keep its own rank's
// progress thread from sending them.
void RankNode::send(GradientPtr gradient) {
  constexpr std::size_t polite = 8;
  if (hub_.send(std::move(gradient)) > polite) std::this_thread::yield();
}

void RankNode::applied(const Received& received) {
  hub_.applied(received.gradients, received_from_);
}

void RankNode::announce(std::uint32_t computed) { hub_.announce({self_, computed}); }

std::optional<std::uint64_t> RankNode::announced_total() const { return hub_.announced_total(); }

std::uint64_t RankNode::copies_dropped() const { return hub_.copies_dropped(self_); }

}  // namespace dasgd::mpi
