#include "dasgd/elastic/takeover.hpp"

namespace dasgd::elastic {

std::optional<LinkId> Takeover::ask(std::span<const Giver> givers, const GradientSet& held,
                                    bool arriving, Nanoseconds now) {
  if (offered_) return std::nullopt;
  if (pulling_) {
    if (arriving || now - at_ < options_.await_model) return std::nullopt;
    not_before_[asked_] = now + options_.await_model;
    pulling_.reset();
  }
  const Giver* best = nullptr;
  std::uint64_t most = 0;
  for (const Giver& giver : givers) {
    if (const auto at = not_before_.find(giver.member); at != not_before_.end() && now < at->second)
      continue;
    const std::uint64_t missing = giver.holds->count_missing_from(held);
    if (members_.me().joined && !(missing > 0 && giver.is_needed)) continue;
    if (best && missing <= most) continue;
    best = &giver;
    most = missing;
  }
  if (!best) return std::nullopt;
  pulling_ = best->link;
  asked_ = best->member;
  at_least_ = *best->holds;
  at_ = now;
  return pulling_;
}

void Takeover::offer(Model model, WorkerId from, Nanoseconds now) {
  offered_ = std::move(model);
  pulling_.reset();
  from_ = from;
  at_ = now;
}

std::optional<Adoption> Takeover::decide(const Holdings& held, const Copies& copies,
                                         Nanoseconds now) {
  auto adoption = plan(held, copies, now);
  offered_.reset();
  if (adoption) {
    stuck_since_.reset();
    is_to_correct_ = adoption->mean.has_value();
    return adoption;
  }
  if (!stuck_since_) stuck_since_ = now;
  not_before_[from_] = now + options_.retry_adoption;
  return std::nullopt;
}

std::optional<Adoption> Takeover::plan(const Holdings& held, const Copies& copies,
                                       Nanoseconds now) const {
  const Model& from = *offered_;
  const std::uint64_t long_branch = 4 * options_.limits.in_flight * members_.count_here();
  const std::uint64_t own = held.names().count_missing_from(from.names),
                      other = from.names.count_missing_from(held.names());
  const bool two_branches = own >= long_branch && other >= long_branch;
  const bool gives_way = own < other || (own == other && !members_.is_oldest_here());
  if (two_branches && options_.merge == Merge::yield && gives_way) {
    Adoption plan;
    plan.from = from;
    plan.names = from.names;
    plan.samples = from.samples;
    plan.abandoned = held.names().without(from.names);
    return plan;
  }
  // One corrects for all, or one yields: the others leave it to that one for a while.
  const bool is_mine = options_.merge == Merge::union_of_both ||
                       (options_.merge == Merge::average && members_.is_oldest_here());
  if (two_branches && !is_mine && !stuck_for(options_.yield_after / 2, now)) return std::nullopt;
  auto plan = plan_adoption(from, held.names(), held.samples(), held.log(), copies.models(),
                            gives_way && stuck_for(options_.yield_after, now));
  if (!plan) return plan;
  plan->to_remember = members_.me().joined && (!copies.empty() || members_.has_unseen_members());
  if (two_branches && options_.merge == Merge::average && is_mine) {
    const double share = static_cast<double>(own) / static_cast<double>(own + other);
    plan->mean = Adoption::Mean{share, 1 - share};
  }
  return plan;
}

}  // namespace dasgd::elastic
