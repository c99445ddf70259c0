// Turns frames on a graph into "every gradient to every worker exactly once".
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/gradient_set.hpp"
#include "dasgd/topology/graph.hpp"
#include "dasgd/transport/frame.hpp"

namespace dasgd {

/// When a worker passes a foreign gradient on to its neighbours.
enum class RelayMode {
  arrival,  ///< when its first copy arrives: O(n) staleness on a ring
  apply,    ///< when it has been applied: O(n^2) staleness on a ring
  none,     ///< never: the graph must be full
};

std::string to_string(RelayMode mode);

/// How gradients reach everybody: when they are passed on over the links of a given graph, or over
/// links that are chosen for it.
struct RelayChoice {
  enum class Kind {
    by_mode,    ///< `mode`, over the links of the topology
    mesh,       ///< everybody sends its own gradients to everybody
    tree,       ///< over a tree whose inner workers pass on sums
    automatic,  ///< mesh or tree, by what cards can carry
  };
  Kind kind = Kind::by_mode;
  RelayMode mode = RelayMode::none;
  std::uint32_t children = 4;  ///< of each worker of the tree

  RelayChoice() = default;
  RelayChoice(RelayMode of_graph) : mode(of_graph) {}  // NOLINT: a mode is a choice
  static RelayChoice mesh() { return RelayChoice(Kind::mesh, 4); }
  static RelayChoice tree(std::uint32_t children = 4) { return {Kind::tree, children}; }
  static RelayChoice automatic() { return {Kind::automatic, 4}; }

  /// Whether it is a matter of links, not of the topology.
  bool chooses_links() const { return kind != Kind::by_mode; }
  friend bool operator==(const RelayChoice&, const RelayChoice&) = default;

 private:
  RelayChoice(Kind chosen, std::uint32_t per_worker) : kind(chosen), children(per_worker) {}
};

/// "arrival", "apply", "none", "mesh", "tree", "tree:K" or "auto". Throws InputError for anything
/// else.
RelayChoice parse_relay(const std::string& text);
std::string to_string(const RelayChoice& choice);

/// None on the full graph, on arrival elsewhere.
RelayMode default_relay(const Graph& graph);
/// Throws InputError when `mode` cannot bring every gradient to every worker of `graph`.
void require_delivery(const Graph& graph, RelayMode mode);

/// One worker's part in flooding: it knows what it has seen and to whom to pass things on. Copies
/// are distinguished by name. Holds no lock; its transport guards it.
class Relay {
 public:
  /// `graph` must outlive the relay. `origins` is the number of workers that compute gradients;
  /// more than the graph has nodes where several share a node.
  /// Where nobody announces anything, memory for that is not taken. It is taken at the beginning:
  /// an announcement must not fail.
  Relay(WorkerId self, const Graph& graph, RelayMode mode, std::size_t origins,
        bool with_announcements = true);
  Relay(WorkerId self, const Graph& graph, RelayMode mode)
      : Relay(self, graph, mode, graph.workers()) {}

  /// A frame has arrived: true if this is its first copy and it must be delivered.
  bool is_first_copy(const Frame& frame);
  bool is_first_copy(const Parcel& parcel);
  /// The same of a gradient of which only the name has come.
  bool is_first_copy(GradientName name);
  /// Of a bundle: true if none of its names has been seen; otherwise others bring what is missing.
  bool is_first_copy(const GradientSet& names);
  /// Whether a first copy is to be passed on at once. A bundle has waited long enough: it is, with
  /// relay on application as well.
  bool passes_on_arrival(const Frame& frame) const;
  bool passes_on_application() const { return mode_ == RelayMode::apply; }

  /// Calls `send(neighbour)` for everybody to whom a frame that came from `from` goes; own frames
  /// come from the worker itself.
  template <typename Send>
  void for_each_target(WorkerId from, Send&& send) const {
    for (const WorkerId neighbour : graph_.neighbours(self_))
      if (neighbour != from) send(neighbour);
  }

  /// Copies that were dropped because the frame had been seen.
  std::uint64_t copies_dropped() const { return copies_dropped_; }
  /// The number of gradients made by all, once every worker has announced its count.
  std::optional<std::uint64_t> announced_total() const;

 private:
  const WorkerId self_;
  const Graph& graph_;
  const RelayMode mode_;
  GradientSet seen_;
  const std::size_t origins_;
  std::vector<std::optional<std::uint32_t>> announced_;
  std::size_t announcements_ = 0;
  std::uint64_t copies_dropped_ = 0;
};

}  // namespace dasgd
