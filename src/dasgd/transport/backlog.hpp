// What waits for one link of a graph with several routes, and what becomes of it when the link is
// behind. Where every name comes once over every link, see pending.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "dasgd/core/names.hpp"
#include "dasgd/transport/facts_limit.hpp"
#include "dasgd/transport/parcel.hpp"

namespace dasgd {

/// Parcels for one neighbour, oldest first. While more than `cap` wait, neighbours in the sequence
/// of one origin are folded two by two: [2^l k, 2^l (k+1)) with its twin, as when a counter
/// carries. So k gradients of an origin that wait take at most cap + 2 log2(k) parcels; more where
/// a message could not bring the facts of two blocks.
///
/// *Why blocks of powers of two.* On a graph with several routes a worker may get one name by two
/// links, in different bundles, and cannot take a bundle apart. It accepts a bundle if it has none
/// of its names, else drops it. Blocks of powers of two are nested or disjoint, and then this rule
/// brings every name to everybody exactly once (docs/decisions/0009). Owned by one thread.
class Backlog {
 public:
  explicit Backlog(std::size_t cap, FactsLimit limit = {}) : cap_(cap), limit_(limit) {}

  /// Throws std::logic_error for a bundle that is not a block of a power of two.
  void add(Parcel parcel);
  bool empty() const { return blocks_.empty(); }
  std::size_t size() const { return blocks_.size(); }
  /// Of the numbers that it keeps.
  std::size_t size_in_bytes() const { return bytes_; }
  /// The next message: the oldest block.
  Parcel take();

 private:
  /// Names [first, first + 2^level) of one origin.
  struct Place {
    WorkerId origin{};
    int level = 0;
    std::uint32_t first = 0;

    Place twin() const { return {origin, level, first ^ (std::uint32_t{1} << level)}; }
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Block {
    Place place;
    Parcel parcel;
  };
  using Blocks = std::list<Block>;

  void fold();
  void join_with_twins(Blocks::iterator block);

  const std::size_t cap_;
  const FactsLimit limit_;
  Blocks blocks_;  // oldest first
  std::size_t bytes_ = 0;
  std::map<Place, Blocks::iterator> where_;
  std::vector<Place> unpaired_;  // added since the last fold: only these can have a twin
};

}  // namespace dasgd
