#include "dasgd/transport/in_process/node.hpp"

#include <algorithm>
#include <utility>

namespace dasgd::in_process {

Node::Node(WorkerId self, const Graph& graph, const MeshOptions& options,
           std::vector<std::unique_ptr<Node>>& nodes, const std::unique_ptr<Carrier>& carrier)
    : self_(self),
      clock_(options.clock),
      nodes_(nodes),
      carrier_(carrier),
      pool_(GradientPool::create(std::max<std::size_t>(1, options.in_flight))),
      relay_(self, graph, options.relay) {}

template <typename Deliver>
void Node::without_loss(Deliver&& deliver) {
  try {
    deliver();
  } catch (...) {
    for (const auto& node : nodes_) node->has_lost_.store(true, std::memory_order_relaxed);
    throw;
  }
}

void Node::receive(std::size_t limit, Received& received) {
  inbox_.take(limit, received, received_from_);
}

std::shared_ptr<Gradient> Node::blank() {
  if (auto gradient = pool_->take()) return gradient;
  const Nanoseconds start = clock_();
  for (const auto& node : nodes_) node->fold(self_);
  auto gradient = pool_->take_beyond();
  waited_.fetch_add(clock_() - start, std::memory_order_relaxed);
  return gradient;
}

void Node::fold(WorkerId origin) {
  inbox_.fold([origin](const Gradient& g) { return g.name.origin == origin; },
              [this](const std::vector<Inbox<WorkerId>::Waiting>& folded) {
                if (!relay_.passes_on_application()) return;
                without_loss([&] {
                  std::vector<Outgoing> outgoing;
                  for (const auto& w : folded)
                    if (w.parcel.gradient) outgoing.push_back({w.parcel, w.from});
                  post(std::move(outgoing));
                });
              });
}

void Node::send(GradientPtr gradient) {
  without_loss([&] { post({{std::move(gradient), self_}}); });
}

void Node::announce(std::uint32_t computed) {
  without_loss([&] { post({{Announcement{self_, computed}, self_}}); });
}

void Node::applied(const Received& received) {
  if (!relay_.passes_on_application()) return;
  without_loss([&] {
    std::vector<Outgoing> outgoing;  // what came as a bundle was passed on when it was folded
    for (std::size_t k = 0; k < received.gradients.size(); ++k)
      outgoing.push_back({received.gradients[k], received_from_[k]});
    post(std::move(outgoing));
  });
}

void Node::post(std::vector<Outgoing> outgoing) {
  {
    const std::lock_guard lock(inbox_.mutex());
    for (Outgoing& o : outgoing) {
      if (o.from == self_) relay_.is_first_copy(o.frame);  // own frames that come round are copies
      outbox_.push_back(std::move(o));
    }
    if (std::exchange(carried_, true)) return;
  }
  carry();
}

bool Node::deliver(const Frame& frame, WorkerId from) {
  bool notify = false;
  bool carrier = false;
  {
    const std::lock_guard lock(inbox_.mutex());
    if (!relay_.is_first_copy(frame)) return false;
    if (const auto* parcel = std::get_if<Parcel>(&frame)) inbox_.add(*parcel, from);
    if (relay_.passes_on_arrival(frame)) {
      outbox_.push_back({frame, from});
      carrier = !std::exchange(carried_, true);
    }
    notify = inbox_.ring();
  }
  if (notify) inbox_.notify();
  return carrier;
}

void Node::arrive(const Frame& frame, WorkerId from) {
  without_loss([&] {
    if (deliver(frame, from)) carry();
  });
}

bool Node::unload(std::vector<Outgoing>& load) {
  load.clear();
  const std::lock_guard lock(inbox_.mutex());
  std::swap(load, outbox_);
  carried_ = !load.empty();
  return carried_;
}

// Delivering can make this thread the carrier of further outboxes; they are worked off one after
// the other, so the depth of the stack does not grow with the graph.
void Node::carry() {
  std::vector<Node*> carried{this};
  std::vector<Outgoing> load;
  while (!carried.empty()) {
    Node& node = *carried.back();
    if (!node.unload(load)) {
      carried.pop_back();
      continue;
    }
    for (const Outgoing& out : load) {
      node.relay_.for_each_target(out.from, [&](WorkerId target) {
        node.count(out.frame);
        if (carrier_) return carrier_->carry(node.self_, target, out.frame);
        Node& neighbour = *nodes_[index(target)];
        if (neighbour.deliver(out.frame, node.self_)) carried.push_back(&neighbour);
      });
    }
  }
}

void Node::count(const Frame& frame) {
  const auto* parcel = std::get_if<Parcel>(&frame);
  if (!parcel) return;
  messages_.fetch_add(1, std::memory_order_relaxed);
  bytes_.fetch_add(parcel->size_in_bytes(), std::memory_order_relaxed);
}

Traffic Node::sent() const {
  return {messages_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
}

std::optional<std::uint64_t> Node::announced_total() const {
  const std::lock_guard lock(inbox_.mutex());
  return relay_.announced_total();
}

std::uint64_t Node::copies_dropped() const {
  const std::lock_guard lock(inbox_.mutex());
  return relay_.copies_dropped();
}

void Node::clear() {
  inbox_.clear();
  std::vector<Outgoing> outbox;
  const std::lock_guard lock(inbox_.mutex());
  std::swap(outbox, outbox_);
}

}  // namespace dasgd::in_process
