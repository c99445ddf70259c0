#include "dasgd/transport/in_process/node.hpp"

#include <algorithm>
#include <utility>

namespace dasgd::in_process {

Node::Node(WorkerId self, const Graph& graph, const NetworkOptions& options,
           std::vector<std::unique_ptr<Node>>& nodes, const std::unique_ptr<Carrier>& carrier)
    : self_(self),
      clock_(options.clock),
      nodes_(nodes),
      carrier_(carrier),
      pool_(GradientPool::create(std::max<std::size_t>(2, options.in_flight), [this] { wake(); })),
      relay_(self, graph, options.relay) {}

Node::~Node() { pool_->detach(); }

void Node::receive(std::size_t limit, std::vector<GradientPtr>& waiting) {
  inbox_.take(limit, waiting, received_from_);
}

void Node::send(GradientPtr gradient) { post({{std::move(gradient), self_}}); }

void Node::announce(std::uint32_t computed) { post({{Announcement{self_, computed}, self_}}); }

void Node::applied(std::span<const GradientPtr> gradients) {
  if (!relay_.passes_on_application()) return;
  std::vector<Outgoing> outgoing;
  for (std::size_t k = 0; k < gradients.size(); ++k)
    outgoing.push_back({gradients[k], received_from_[k]});
  post(std::move(outgoing));
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
    if (const auto* gradient = std::get_if<GradientPtr>(&frame)) inbox_.add(*gradient, from);
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
  if (deliver(frame, from)) carry();
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
        if (carrier_) return carrier_->carry(node.self_, target, out.frame);
        Node& neighbour = *nodes_[index(target)];
        if (neighbour.deliver(out.frame, node.self_)) carried.push_back(&neighbour);
      });
    }
  }
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
