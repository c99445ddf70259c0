// Over which links sums travel where members form a tree. Every member is linked to every other one
// as in a mesh, but only the links of the tree carry what others have computed. Over the other
// links members report what they hold, so that what was lost can be sent again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "dasgd/elastic/membership/membership.hpp"
#include "dasgd/elastic/message.hpp"

namespace dasgd::elastic {

/// The oldest member draws it, and changes as little as possible: a newcomer becomes a leaf,
/// and the member at the last place moves to one that has become free.
class Tree {
 public:
  /// `children` of each member; 0: there is no tree.
  Tree(std::size_t children, const Membership& members) : children_(children), members_(members) {}

  bool exists() const { return children_ > 0; }
  /// Draws it, if that is for this member to do. `log_end`: where what comes later will stand in
  /// the log. True if this member has other neighbours than before.
  bool draw(std::uint64_t log_end);
  /// Draws it again, if that is for this member to do, where neighbours have had no link to each
  /// other for `patience` and two members had better change places. True as above.
  using Linked = std::function<bool(WorkerId a, WorkerId b)>;
  bool mend(const Linked& linked, Nanoseconds now, Nanoseconds patience, std::uint64_t log_end);
  /// What a leaf and a relay are to do: change places.
  struct Change {
    WorkerId relay{}, leaf{};
  };
  /// Where a relay's card is full and, for `patience`, carries less than half of what the card of
  /// another member carries, also per neighbour: that relay, the slowest first, and the oldest leaf
  /// whose card is not known to be as slow; one that has shown to be faster goes before others. By
  /// the oldest member only, and not where more neighbours would lack a link. A relay that was full
  /// once has a limit, so each leaf is tried once, and members with equal cards stay.
  using CardOf = std::function<Card(WorkerId)>;
  std::optional<Change> find_slow(const CardOf& card_of, const Linked& linked, Nanoseconds now,
                                  Nanoseconds patience);
  /// True as above.
  bool make(const Change& change, std::uint64_t log_end);
  /// As `from` has drawn it; only the oldest is believed. True as above.
  bool take(const std::vector<WorkerId>& places, WorkerId from, std::uint64_t log_end);

  /// What is reported to others: all places, by the oldest; ...
  std::vector<WorkerId> drawn() const;
  /// ... and the neighbours of this member, by everybody.
  std::vector<WorkerId> neighbours() const;
  bool has_edge_to(WorkerId member) const { return edges_.contains(member); }
  /// From which place in the log on what comes goes to this neighbour.
  std::uint64_t begin(WorkerId neighbour) const { return edges_.at(neighbour); }
  /// "parent", "child" or nothing: what this member is to us.
  const char* relation(WorkerId member) const;

 private:
  friend struct StateOf;
  static constexpr std::size_t nowhere = SIZE_MAX;
  static constexpr float clearly = 2;  // by this factor slower or faster
  WorkerId oldest() const;
  bool belongs(WorkerId member) const;
  std::size_t place_of(WorkerId member) const;
  std::size_t parent_of(std::size_t place) const { return (place - 1) / children_; }
  std::size_t first_child_of(std::size_t place) const { return place * children_ + 1; }
  bool is_relay(std::size_t place) const { return first_child_of(place) < places_.size(); }
  std::size_t count_neighbours(std::size_t place) const;
  bool is_slow(std::size_t place, const CardOf& card_of) const;
  std::optional<WorkerId> find_faster_leaf(std::size_t relay, const CardOf& card_of,
                                           const Linked& linked) const;
  std::size_t count_lacking(const std::vector<WorkerId>& places, const Linked& linked) const;
  std::vector<WorkerId> exchanged(const Change& change) const;
  bool change_to(std::vector<WorkerId> places, std::uint64_t log_end);

  const std::size_t children_;
  const Membership& members_;
  std::vector<WorkerId> places_;  // the root, its children, theirs, ...
  std::map<WorkerId, std::uint64_t> edges_;
  std::map<std::pair<WorkerId, WorkerId>, Nanoseconds> broken_;  // neighbours without a link, since
  std::map<WorkerId, Nanoseconds> slow_;                         // relays, since when
};

}  // namespace dasgd::elastic
