#include "dasgd/elastic/tree.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace dasgd::elastic {

bool Tree::belongs(WorkerId member) const {
  const Member& m = members_[member];
  return (m.state == MemberState::here || m.state == MemberState::ended) && m.record.joined;
}

WorkerId Tree::oldest() const {
  for (const WorkerId member : members_.by_age())
    if (belongs(member)) return member;
  return Membership::self;
}

std::size_t Tree::place_of(WorkerId member) const {
  const auto at = std::find(places_.begin(), places_.end(), member);
  return at == places_.end() ? nowhere : static_cast<std::size_t>(at - places_.begin());
}

bool Tree::draw(std::uint64_t log_end) {
  if (!exists() || !belongs(Membership::self) || oldest() != Membership::self) return false;
  auto places = places_;
  for (std::size_t i = 0; i < places.size();) {
    if (belongs(places[i])) {
      ++i;
      continue;
    }
    places[i] = places.back();
    places.pop_back();
  }
  for (const WorkerId member : members_.by_age())
    if (belongs(member) && std::find(places.begin(), places.end(), member) == places.end())
      places.push_back(member);
  return change_to(std::move(places), log_end);
}

bool Tree::mend(const Linked& linked, Nanoseconds now, Nanoseconds patience,
                std::uint64_t log_end) {
  auto best = drawn();
  std::map<std::pair<WorkerId, WorkerId>, Nanoseconds> broken;
  bool is_due = false;
  for (std::size_t i = 1; i < best.size(); ++i) {
    const std::pair edge(best[parent_of(i)], best[i]);
    if (linked(edge.first, edge.second)) continue;
    const auto known = broken_.find(edge);
    const Nanoseconds since = broken[edge] = known == broken_.end() ? now : known->second;
    is_due = is_due || now - since >= patience;
  }
  broken_ = std::move(broken);
  if (!is_due) return false;
  // An edge that has lacked its link for less long is no reason to move anybody; a new edge without
  // a link is as bad as an old one.
  const auto count_bad = [&](const std::vector<WorkerId>& places) {
    std::size_t bad = 0;
    for (std::size_t i = 1; i < places.size(); ++i) {
      const std::pair edge(places[parent_of(i)], places[i]);
      const auto known = broken_.find(edge);
      bad += known != broken_.end() ? now - known->second >= patience
                                    : !linked(edge.first, edge.second);
    }
    return bad;
  };
  std::size_t least = count_bad(best);
  auto places = best;  // those at the last places have the fewest neighbours
  for (std::size_t i = places.size(); i-- > 1;)
    for (std::size_t k = i; k-- > 0;) {
      std::swap(places[i], places[k]);
      if (const std::size_t bad = count_bad(places); bad < least) {
        least = bad;
        best = places;
      }
      std::swap(places[i], places[k]);
    }
  return change_to(std::move(best), log_end);
}

std::size_t Tree::count_neighbours(std::size_t place) const {
  const std::size_t first = first_child_of(place), size = places_.size();
  return (place > 0 ? 1 : 0) + std::min(children_, size - std::min(size, first));
}

// With links that are all equally slow, rather than cards, whoever has more of them carries more.
bool Tree::is_slow(std::size_t place, const CardOf& card_of) const {
  const Card card = card_of(places_[place]);
  if (!card.is_full) return false;
  const auto per_neighbour = [this](std::size_t of, const Card& c) {
    return c.rate / static_cast<float>(count_neighbours(of));
  };
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Card other = card_of(places_[i]);
    if (other.rate > clearly * card.rate &&
        per_neighbour(i, other) > clearly * per_neighbour(place, card))
      return true;
  }
  return false;
}

std::optional<Tree::Change> Tree::find_slow(const CardOf& card_of, const Linked& linked,
                                            Nanoseconds now, Nanoseconds patience) {
  std::map<WorkerId, Nanoseconds> slow;
  std::optional<std::size_t> slowest;
  for (std::size_t i = 0; !drawn().empty() && is_relay(i); ++i) {
    if (!is_slow(i, card_of)) continue;
    const auto known = slow_.find(places_[i]);
    const Nanoseconds since = slow[places_[i]] = known == slow_.end() ? now : known->second;
    if (now - since < patience) continue;
    if (!slowest || card_of(places_[i]).rate < card_of(places_[*slowest]).rate) slowest = i;
  }
  slow_ = std::move(slow);
  if (!slowest) return std::nullopt;
  const auto leaf = find_faster_leaf(*slowest, card_of, linked);
  return leaf ? std::optional(Change{places_[*slowest], *leaf}) : std::nullopt;
}

// A leaf for which something always waits, at a relay that is not full, has a slow card itself.
std::optional<WorkerId> Tree::find_faster_leaf(std::size_t relay, const CardOf& card_of,
                                               const Linked& linked) const {
  const float rate = card_of(places_[relay]).rate;
  const std::size_t lacking = count_lacking(places_, linked);
  std::optional<WorkerId> found;
  for (const WorkerId member : members_.by_age()) {
    const std::size_t place = place_of(member);
    if (place == nowhere || is_relay(place)) continue;
    const Card card = card_of(member);
    const bool is_proved = card.rate > clearly * rate || card.limit > clearly * rate;
    const bool is_slow =
        card.limit > 0 || (card.is_full && !card_of(places_[parent_of(place)]).is_full);
    if ((is_slow || found) && !is_proved) continue;
    if (count_lacking(exchanged({places_[relay], member}), linked) > lacking) continue;
    if (is_proved) return member;
    found = member;
  }
  return found;
}

std::vector<WorkerId> Tree::exchanged(const Change& change) const {
  auto places = places_;
  std::swap(places[place_of(change.relay)], places[place_of(change.leaf)]);
  return places;
}

bool Tree::make(const Change& change, std::uint64_t log_end) {
  slow_.clear();
  return change_to(exchanged(change), log_end);
}

std::size_t Tree::count_lacking(const std::vector<WorkerId>& places, const Linked& linked) const {
  std::size_t lacking = 0;
  for (std::size_t i = 1; i < places.size(); ++i)
    lacking += linked(places[parent_of(i)], places[i]) ? 0 : 1;
  return lacking;
}

bool Tree::take(const std::vector<WorkerId>& places, WorkerId from, std::uint64_t log_end) {
  if (!exists() || places.empty() || from != oldest()) return false;
  if (std::set(places.begin(), places.end()).size() < places.size()) return false;
  return change_to(places, log_end);
}

// What came before an edge was there has gone other ways, or was lost on them: it is not sent over
// this one. Only a new leaf gets all that it lacks from its parent.
bool Tree::change_to(std::vector<WorkerId> places, std::uint64_t log_end) {
  if (places == places_) return false;
  const auto old = std::exchange(places_, std::move(places));
  std::map<WorkerId, std::uint64_t> edges;
  const std::size_t own = place_of(Membership::self);
  const auto add = [&](std::size_t place, bool is_child) {
    const WorkerId member = places_[place];
    const bool is_new_leaf = is_child && std::find(old.begin(), old.end(), member) == old.end();
    const auto known = edges_.find(member);
    edges[member] = known != edges_.end() ? known->second : is_new_leaf ? 0 : log_end;
  };
  if (own != nowhere && own > 0) add(parent_of(own), false);
  for (std::size_t k = 1; own != nowhere && k <= children_; ++k)
    if (own * children_ + k < places_.size()) add(own * children_ + k, true);
  return std::exchange(edges_, edges) != edges;
}

std::vector<WorkerId> Tree::drawn() const {
  return exists() && oldest() == Membership::self ? places_ : std::vector<WorkerId>();
}

std::vector<WorkerId> Tree::neighbours() const {
  std::vector<WorkerId> all;
  for (const auto& [member, begin] : edges_) all.push_back(member);
  return all;
}

const char* Tree::relation(WorkerId member) const {
  if (!has_edge_to(member)) return "";
  return place_of(member) < place_of(Membership::self) ? "parent" : "child";
}

}  // namespace dasgd::elastic
