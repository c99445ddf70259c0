// The options of a member, and its timeouts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/fixed_point.hpp"
#include "dasgd/elastic/membership/membership.hpp"
#include "dasgd/elastic/message.hpp"
#include "dasgd/run/budget.hpp"

namespace dasgd::elastic {

/// What becomes of two models after a split so long that both sides went on by themselves.
enum class Merge {
  average,        ///< their weighted mean: the union of both, and one gradient that corrects it
  union_of_both,  ///< the union of both as it is
  yield,          ///< the side with fewer gradients gives its own up, by name
};

/// How much a member computes ahead, sends and keeps for others, and to how many it is linked.
struct ProtocolLimits {
  std::size_t in_flight = 16;  ///< own gradients while it is cut off; of others, before it folds
  std::uint64_t most_waiting_bytes = 64 << 20;  ///< per link; beyond it the link is behind
  std::size_t most_queued_bytes = 64 << 10;     ///< on a link: then own gradients wait, as one
  std::uint64_t most_kept_bytes = 1 << 30;      ///< of gradients that somebody may still need
  std::uint64_t most_copied_bytes = 512 << 20;  ///< of copies of models, of which two are kept
  std::size_t most_in_mesh = 32;                ///< up to so many, everybody is linked to everybody
  std::size_t links = 8;                        ///< beyond: so many of one's own choice
  std::size_t children = 0;                     ///< of a member in a tree of sums; 0: a mesh
};

struct ProtocolOptions {
  Origin origin;
  std::string name;
  std::string address;  ///< empty: others cannot dial this one
  RunId run{};
  std::string facts;                  ///< see Hello
  std::string settings;               ///< for those who join
  Before before;                      ///< for them too
  bool founder = false;               ///< it begins the run; others wait for a model
  std::vector<std::string> contacts;  ///< addresses to dial first
  std::size_t dimension = 0;
  NumberFormat format = NumberFormat::of_float;
  bool packs = false;            ///< updates have few bits and travel in no more
  bool chooses_message = false;  ///< how few depends on how long they wait for links
  ProtocolLimits limits;
  Nanoseconds report_every = 200'000'000;
  Nanoseconds repair_after = 200'000'000;
  Nanoseconds compare_every = 0;  ///< models, while the run goes on; 0: only at the end
  Nanoseconds yield_after = 5'000'000'000;
  Nanoseconds give_up_after = 60'000'000'000;  ///< to join
  Patience patience;
  Merge merge = Merge::average;
  Budget budget;  ///< of all members together
  /// Whoever dials or is dialed from now on needs this token, or is known to be a member. Called
  /// with the lock held: must not call back.
  std::function<void(const std::string& token)> rotated;

  // Every other time after which a member does something by itself.
  static constexpr Nanoseconds keep_snapshot = 2'000'000'000;   ///< for others who ask
  static constexpr Nanoseconds await_model = 5'000'000'000;     ///< then another member is asked
  static constexpr Nanoseconds retry_adoption = 1'000'000'000;  ///< of the same member's model
  static constexpr Nanoseconds warn_again = 60'000'000'000;     ///< of links that do not keep up
  static constexpr Nanoseconds measure_every = 1'000'000'000;   ///< rates
  Nanoseconds late_report() const { return 2 * report_every; }  ///< not worth a line before
  Nanoseconds collect_every() const { return report_every / 4; }
  /// Until all who know both sides of a cut have met whoever comes back.
  Nanoseconds meeting() const { return patience.slowest_dial + 3 * report_every; }
  Nanoseconds merging() const { return 2 * yield_after; }  ///< is then an exception no more
  /// Before its stream is repaired by others. `trusted`: it sends its gradients itself, however
  /// late.
  Nanoseconds await_origin(bool trusted) const {
    return trusted ? std::min<Nanoseconds>(2 * patience.gone, 20'000'000'000) : patience.gone / 2;
  }
  /// Then it asks for a model.
  Nanoseconds await_lacked(bool trusted) const {
    return trusted ? std::min<Nanoseconds>(patience.gone, 10'000'000'000) : 3'000'000'000;
  }
  Nanoseconds await_stop() const { return 2 * patience.gone; }  ///< of others, at the end
  Nanoseconds await_digests() const { return 4 * patience.gone; }
  Nanoseconds await_strangers() const { return 4 * patience.alone; }  ///< whom only the dead knew
  Nanoseconds redial_contact() const { return patience.slowest_dial / 4; }
  Nanoseconds slowest_dial_of_dead() const { return 64 * patience.gone; }

  std::size_t update_bytes() const { return dimension * number_bytes(format); }
  std::size_t model_bytes() const { return dimension * sum_bytes(format); }
};

}  // namespace dasgd::elastic
