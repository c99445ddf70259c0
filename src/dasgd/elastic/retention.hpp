// What is kept for whom: gradients that somebody may need one by one, and copies of the model for
// whoever comes back.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "dasgd/elastic/adoption/copies.hpp"
#include "dasgd/elastic/holdings.hpp"
#include "dasgd/elastic/protocol_options.hpp"

namespace dasgd::elastic {

/// A gradient is dropped when all who are awaited have it. Whoever goes out of sight leaves a copy
/// of the model behind, and nothing is dropped before that is made.
class Retention {
 public:
  explicit Retention(const ProtocolOptions& options);

  const Copies& copies() const { return copies_; }
  /// Somebody has gone or come back: the worker is to make a copy.
  void want_copy() { wants_copy_ = true; }
  bool wants_copy() const { return wants_copy_; }
  bool waits_for_copy() const { return wants_copy_ || is_copying_; }
  /// Where the log has all since the last copy, that one will do.
  void use_last_copy(const Holdings& held, Nanoseconds now);
  /// What the worker makes next is a copy, if one is wanted.
  void begin_copy() { is_copying_ = std::exchange(wants_copy_, false); }
  void copied(const Model& model, const Log& log, Nanoseconds now);
  /// The models before and after an adoption.
  void remember(Model before, Model after, const GradientSet& held, Nanoseconds now);
  /// Names were given up: only these are held.
  void keep_within(const GradientSet& held) { copies_.keep_within(held); }
  /// Nobody will come with another branch any more once all are here and have everything one by
  /// one, for long enough.
  void drop_old_copies(bool unsettled, Nanoseconds now);

  bool is_due(Nanoseconds now) const { return now - collected_at_ >= options_.collect_every(); }
  void begin(Nanoseconds now) { collected_at_ = now; }
  struct Needs {
    std::span<const GradientSet* const> awaited;  ///< what each of those holds who get all
    const GradientSet* asked_for = nullptr;       ///< is in the model that is to come, if one is
    bool is_full = false;                         ///< memory comes before separating branches later
    bool is_merging = false;  ///< some link will be served by a model, not one by one
    std::size_t most_waiting = 0;
    bool in_tree = false;  ///< parts of sums that a dead relay has passed on to some may be needed
  };
  void drop_unneeded(Log& log, const Needs& needs, Nanoseconds now);

 private:
  friend struct StateOf;
  const ProtocolOptions& options_;
  Copies copies_;
  bool wants_copy_ = false, is_copying_ = false;
  Nanoseconds copied_at_ = 0, unsettled_at_ = 0, collected_at_ = 0;
  std::optional<Nanoseconds> merging_since_;
};

}  // namespace dasgd::elastic
