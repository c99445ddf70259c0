#include "dasgd/transport/in_process/mesh.hpp"

#include "dasgd/transport/in_process/node.hpp"

namespace dasgd::in_process {

Mesh::Mesh(Graph graph, MeshOptions options) : graph_(std::move(graph)) {
  require_delivery(graph_, options.relay);
  nodes_.reserve(graph_.workers());
  for (std::size_t i = 0; i < graph_.workers(); ++i)
    nodes_.push_back(std::make_unique<Node>(worker_id(i), graph_, options, nodes_, carrier_));
  if (options.carrier)
    carrier_ = options.carrier([this](WorkerId from, WorkerId to, const Frame& frame) {
      nodes_[index(to)]->arrive(frame, from);
    });
}

Mesh::~Mesh() {
  if (carrier_) carrier_->stop();
  // A gradient in one inbox belongs to another node's pool: empty all before any goes away.
  for (const auto& node : nodes_) node->clear();
}

Endpoint& Mesh::endpoint(WorkerId worker) { return *nodes_[index(worker)]; }

void Mesh::deliver_held_back() {
  if (carrier_) carrier_->deliver_held_back();
}

std::size_t Mesh::most_buffers(WorkerId worker) const {
  return nodes_[index(worker)]->most_buffers();
}

}  // namespace dasgd::in_process
