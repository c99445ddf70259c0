#include "dasgd/transport/mpi/node.hpp"

#include <thread>
#include <utility>

namespace dasgd::mpi {

Node::Node(WorkerId self, std::size_t in_flight, std::function<Nanoseconds()> clock, Hub& hub)
    : self_(self), clock_(std::move(clock)), hub_(hub), pool_(GradientPool::create(in_flight)) {}

void Node::receive(std::size_t limit, Received& received) {
  inbox_.take(limit, received, received_from_);
}

// What links that are behind hold is folded by the progress thread.
std::shared_ptr<Gradient> Node::blank() {
  if (auto gradient = pool_->take()) return gradient;
  const Nanoseconds start = clock_();
  hub_.fold(self_);
  auto gradient = pool_->take_beyond();
  waited_.fetch_add(clock_() - start, std::memory_order_relaxed);
  return gradient;
}

// Where gradients take microseconds and cores are scarce, the worker would keep its own rank's
// progress thread from sending them.
void Node::send(GradientPtr gradient) {
  constexpr std::size_t polite = 8;
  if (hub_.send(std::move(gradient)) > polite) std::this_thread::yield();
}

void Node::applied(const Received& received) { hub_.applied(received.gradients, received_from_); }

void Node::fold(std::optional<WorkerId> origin) {
  inbox_.fold([&](const Gradient& g) { return !origin || g.name.origin == *origin; },
              [this](const std::vector<Inbox<int>::Waiting>& folded) {
                std::vector<GradientPtr> gradients;
                std::vector<int> from;
                for (const auto& w : folded) {
                  if (!w.gradient) continue;
                  gradients.push_back(w.gradient);
                  from.push_back(w.from);
                }
                hub_.applied(gradients, from);
              });
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

void Node::deliver(const BundlePtr& bundle, int from_rank) {
  {
    const std::lock_guard lock(inbox_.mutex());
    inbox_.add(bundle, from_rank);
  }
  inbox_.wake();
}

}  // namespace dasgd::mpi
