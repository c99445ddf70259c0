// Who sends to whom.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/names.hpp"

namespace dasgd {

/// A directed graph over workers 0 .. n - 1 without loops or double links. Neighbours ascend.
class Graph {
 public:
  explicit Graph(std::size_t workers) : neighbours_(workers) {}

  /// Adds a one-way link; adding it twice changes nothing. The ends must differ.
  void connect(WorkerId from, WorkerId to);
  void connect_both(WorkerId a, WorkerId b) {
    connect(a, b);
    connect(b, a);
  }

  std::size_t workers() const { return neighbours_.size(); }
  /// To whom `worker` sends.
  std::span<const WorkerId> neighbours(WorkerId worker) const { return neighbours_[index(worker)]; }
  bool connected(WorkerId from, WorkerId to) const;
  /// Number of one-way links.
  std::size_t links() const;
  /// Every worker sends to every other.
  bool is_full() const { return links() == workers() * (workers() - 1); }
  /// Of a connected graph: between any two workers there is one way.
  bool is_tree() const;

  /// Throws InputError, naming the two parts, unless every worker can reach every other.
  void require_connected(const std::string& name) const;

 private:
  std::vector<std::vector<WorkerId>> neighbours_;
};

/// How many links a frame of `start` crosses on its shortest way to each worker of a connected
/// graph.
std::vector<std::size_t> hops_from(const Graph& graph, WorkerId start);

}  // namespace dasgd
