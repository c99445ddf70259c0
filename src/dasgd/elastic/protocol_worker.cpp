// The worker's side: what it takes and gives, and what it does between two steps.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/link.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

void Protocol::take(std::size_t limit, Received& received) {
  std::vector<std::uint8_t> from;
  inbox_.take(limit, received, from);
}

void Protocol::own(GradientPtr gradient, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  held_.insert(gradient->name);
  samples_ += gradient->samples;
  if (told_.empty()) told_.resize(1, 0);
  told_[0] = gradient->name.sequence + 1;
  if (cut_off_) ++computed_while_cut_;
  log_.add(std::move(gradient), now, true);
  check_budget(now);
}

bool Protocol::may_compute() const {
  const std::lock_guard lock(mutex_);
  return joined_ && !offered_model_ &&
         (!cut_off_ || alone_ || computed_while_cut_ < options_.in_flight);
}

// The side of a split that is smaller, or has the larger origin, is the one that gives way.
std::optional<Adoption> Protocol::plan(Nanoseconds now) {
  const Model& from = *offered_model_;
  const std::size_t members = members_.here().size();
  const std::uint64_t long_branch = 4 * options_.in_flight * members;
  const GradientSet other = from.names.without(held_);
  const std::uint64_t own_branch =
      split_ ? held_.count_missing_from(split_->names) : std::uint64_t{0};
  const bool two_branches = split_ && own_branch >= long_branch && other.size() >= long_branch;
  const GradientSet beside = held_.without(from.names);
  const bool is_smaller =
      beside.size() < other.size() || (beside.size() == other.size() && !members_.is_eldest());
  const bool is_stuck = stuck_since_ && now - *stuck_since_ > options_.yield_after;
  if (two_branches && options_.merge == Merge::yield && is_smaller && beside.size() > 0) {
    Adoption plan;
    plan.from = from;
    plan.names = from.names;
    plan.samples = from.samples;
    plan.abandoned = beside;
    return plan;
  }
  auto plan = plan_adoption(from, held_, samples_, log_, split_, is_stuck && is_smaller);
  if (plan && two_branches && options_.merge == Merge::average && members_.is_eldest()) {
    const double own = static_cast<double>(own_branch),
                 all = own + static_cast<double>(other.size());
    plan->mean = Adoption::Mean{own / all, 1 - own / all, *split_};
  }
  return plan;
}

Task Protocol::next_task(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (inbox_.depth() > 0) return {};  // first all that is held is applied
  if (offered_model_) {
    auto adoption = plan(now);
    const WorkerId from = pulled_from_;
    if (!adoption) {
      offered_model_.reset();
      if (!stuck_since_) stuck_since_ = now;
      do_not_pull_[from] = now + 1'000'000'000;
      return {};
    }
    offered_model_.reset();
    stuck_since_.reset();
    if (!joined_) {
      joined_ = true;
      joined_at_ = adoption->names.size();
      say(now, fmt::format("joined at step {}, with the model of {}", joined_at_, label(from)));
    } else {
      say(now, fmt::format("took over the model of {}: {} gradients more, {} kept", label(from),
                           adoption->names.count_missing_from(held_),
                           held_.count_missing_from(adoption->from.names)));
    }
    held_ = adoption->names;
    samples_ = adoption->samples;
    abandoned_.unite(adoption->abandoned);
    if (adoption->abandoned.size() > 0)
      say(now, fmt::format("{} gradients are abandoned", adoption->abandoned.size()));
    if (adoption->base || adoption->mean) {
      split_.reset();
      wants_split_ = has_silent();
    }
    for (auto& [id, link] : links_) link->reported_at = 0;  // worth telling
    check_budget(now);
    return std::move(*adoption);
  }
  if (wants_split_ || wants_frozen_) {
    for (auto& [id, link] : links_)
      if (link->wants_model) {  // from here on the log keeps everything for it
        link->promised = held_;
        link->behind = false;
      }
    return CopyModel{held_};
  }
  return {};
}

void Protocol::copied(Model model, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(wants_split_, false)) {
    split_ = model;
    split_since_ = now;
  }
  if (!std::exchange(wants_frozen_, false)) return;
  frozen_ = std::move(model);
  frozen_at_ = now;
  for (auto& [id, link] : links_) {
    if (!link->open || !link->wants_model) continue;
    if (log_.has_all_of(held_.without(frozen_->names).without(link->reported))) {
      serve(*link, *frozen_, now);
    } else {
      wants_frozen_ = true;  // it asked meanwhile
    }
  }
}

void Protocol::pull(Nanoseconds now) {
  if (offered_model_ || members_.me().ready != Hash{} || over_) return;
  if (pulling_) {
    const Link& link = *links_.at(*pulling_);
    if (link.sums || now - pulled_at_ < 5'000'000'000) return;
    do_not_pull_[link.member] = now + 5'000'000'000;
    pulling_.reset();
  }
  Link* best = nullptr;
  std::uint64_t most = 0;
  for (auto& [id, link] : links_) {
    if (!link->open || !link->heard_report || link->goodbye) continue;
    if (!members_[link->member].record.joined) continue;
    if (const auto until = do_not_pull_.find(link->member);
        until != do_not_pull_.end() && now < until->second)
      continue;
    const std::uint64_t missing = link->reported.count_missing_from(held_);
    const bool same_for_long =
        link->lacked.count_missing_from(held_) > 0 && now - link->lacked_since > 3'000'000'000;
    const bool needed = missing > 0 && (link->reports_without_stream >= 2 || same_for_long);
    if (joined_ && !needed) continue;
    if (best && missing <= most) continue;
    best = link.get();
    most = missing;
  }
  if (!best) return;
  pulling_ = best->id;
  pulled_at_ = now;
  transmit(*best, Want{});
}

}  // namespace dasgd::elastic
