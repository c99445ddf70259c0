// Workers in one process: gradients are shared, not copied.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "dasgd/topology/graph.hpp"
#include "dasgd/transport/carrier.hpp"
#include "dasgd/transport/endpoint.hpp"
#include "dasgd/transport/relay.hpp"

namespace dasgd::in_process {

class Node;

struct MeshOptions {
  RelayMode relay = RelayMode::arrival;
  /// How many buffers a worker has for its own gradients. When all are on their way, what waits for
  /// workers that are behind is folded.
  std::size_t in_flight = 64;
  std::function<Nanoseconds()> clock = [] { return Nanoseconds{0}; };
  /// Takes frames from worker to worker in place of the sending thread.
  CarrierFactory carrier = nullptr;
};

/// A graph of endpoints. A gradient's numbers are written once by the origin; links carry pointers.
/// The sending thread floods: it delivers to its neighbours and does their passing-on as well, so a
/// gradient is relayed on arrival even while the workers in between compute.
class Mesh {
 public:
  /// Keeps its own copy of `graph`.
  Mesh(Graph graph, MeshOptions options);
  ~Mesh();
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  Endpoint& endpoint(WorkerId worker);
  /// The carrier, where there is one, holds nothing back any more. Any thread.
  void deliver_held_back();
  /// How many buffers a worker had for its own gradients at a time, at most.
  std::size_t most_buffers(WorkerId worker) const;

 private:
  const Graph graph_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::unique_ptr<Carrier> carrier_;  // null: the sending thread floods
};

}  // namespace dasgd::in_process
