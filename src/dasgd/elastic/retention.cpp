#include "dasgd/elastic/retention.hpp"

#include <algorithm>

namespace dasgd::elastic {

Retention::Retention(const ProtocolOptions& options)
    : options_(options),
      copies_(std::clamp<std::uint64_t>(
          options.limits.most_copied_bytes / std::max<std::size_t>(1, options.model_bytes()), 2,
          Copies::most)) {}

void Retention::use_last_copy(const Holdings& held, Nanoseconds now) {
  if (!wants_copy_ || copies_.empty()) return;
  if (!held.log().has_all_of(held.names().without(copies_.models().back().names))) return;
  wants_copy_ = false;
  copied_at_ = now;
  copies_.loosen(held.log().names());
}

void Retention::copied(const Model& model, const Log& log, Nanoseconds now) {
  if (!std::exchange(is_copying_, false)) return;
  copies_.add(model);
  copies_.loosen(log.names());
  copied_at_ = unsettled_at_ = now;
}

void Retention::remember(Model before, Model after, const GradientSet& held, Nanoseconds now) {
  copies_.add(std::move(before));
  copies_.keep_within(held);
  copies_.add(std::move(after));
  copied_at_ = unsettled_at_ = now;
}

void Retention::drop_old_copies(bool unsettled, Nanoseconds now) {
  if (unsettled) unsettled_at_ = now;
  // Some members may be joining that only members now dead knew.
  if (now - unsettled_at_ > options_.await_strangers()) copies_.clear();
}

void Retention::drop_unneeded(Log& log, const Needs& needs, Nanoseconds now) {
  // While somebody may come back, those who have met it already pass on what it sends. Nor do all
  // on a side make their copies at the same moment: what is in the log now may be on either side of
  // the last copy at somebody else.
  if (!copies_.empty() && now - copied_at_ <= options_.meeting()) copies_.loosen(log.names());
  // What was sent to a member that has just come back is on both sides, however old it is. A link
  // that never keeps up is a different matter.
  if (!needs.is_merging)
    merging_since_.reset();
  else if (!merging_since_)
    merging_since_ = now;
  const bool is_long = log.size() > 2 * needs.most_waiting;
  const bool has_just_begun = merging_since_ && now - *merging_since_ < options_.merging();
  if (!needs.is_full && merging_since_ && (has_just_begun || !is_long)) return;
  // All keep it for as long: what one drops and another sends could not be separated later.
  Nanoseconds keep_for = 0;
  if (!copies_.empty() && !needs.is_full)
    keep_for = is_long ? options_.meeting() : options_.patience.gone;
  if (needs.in_tree && !is_long && !needs.is_full)
    keep_for = std::max(keep_for, 2 * options_.patience.gone);
  GradientSet unneeded = needs.is_full ? log.names() : copies_.without_loose(log.names());
  if (!needs.is_full && needs.asked_for) unneeded.intersect(*needs.asked_for);
  for (const GradientSet* reported : needs.awaited) unneeded.intersect(*reported);
  log.drop(unneeded, now - keep_for);
}

}  // namespace dasgd::elastic
