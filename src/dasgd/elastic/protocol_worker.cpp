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
  is_to_correct_ = false;
  if (cut_off_) ++computed_while_cut_;
  ++not_looked_at_;
  holdings_.add_own(std::move(gradient), now);
  check_budget(now);
  if (++unreported_ >= most_unreported()) has_news_ = true;
}

bool Protocol::may_compute() const {
  const std::lock_guard lock(mutex_);
  if (!joined() || end_.ending() || offered_model_ || wants_copy_ || wants_snapshot_) return false;
  if (not_looked_at_ >= std::min<std::uint64_t>(most_under_way(), most_unreported())) return false;
  return !cut_off_ || computed_while_cut_ < options_.in_flight;
}

std::optional<MessageFormat> Protocol::chosen_format() const {
  const std::lock_guard lock(mutex_);
  return options_.chooses_message ? std::optional(chooser_.format()) : std::nullopt;
}

std::string Protocol::format_reason() const {
  const std::lock_guard lock(mutex_);
  if (!options_.chooses_message) return "";
  if (chooser_.waited() == 0) return "links keep up with full messages";
  return fmt::format("a message brought {:.1f} gradients in the mean before the last change",
                     chooser_.waited());
}

void Protocol::note_early_loss(double size) {
  const std::lock_guard lock(mutex_);
  Record& me = members_.me();
  me.early_loss = std::max(me.early_loss, size);
}

std::optional<Adoption> Protocol::plan(Nanoseconds now) {
  const Model& from = *offered_model_;
  const std::uint64_t long_branch = 4 * options_.in_flight * members_.here().size();
  const std::uint64_t own = names().count_missing_from(from.names),
                      other = from.names.count_missing_from(names());
  const bool two_branches = own >= long_branch && other >= long_branch;
  const auto stuck_for = [&](Nanoseconds limit) {
    return stuck_since_ && now - *stuck_since_ > limit;
  };
  const bool gives_way = own < other || (own == other && !members_.is_oldest_here());
  if (two_branches && options_.merge == Merge::yield && gives_way) {
    Adoption plan;
    plan.from = from;
    plan.names = from.names;
    plan.samples = from.samples;
    plan.abandoned = names().without(from.names);
    return plan;
  }
  // One corrects for all, or one yields: the others leave it to that one for a while.
  const bool is_mine = options_.merge == Merge::union_of_both ||
                       (options_.merge == Merge::average && members_.is_oldest_here());
  if (two_branches && !is_mine && !stuck_for(options_.yield_after / 2)) return std::nullopt;
  auto plan = plan_adoption(from, names(), holdings_.samples(), log(), copies_.models(),
                            gives_way && stuck_for(options_.yield_after));
  if (!plan) return plan;
  plan->to_remember = joined() && (!copies_.empty() || members_.has_unseen_members());
  if (two_branches && options_.merge == Merge::average && is_mine) {
    const double share = static_cast<double>(own) / static_cast<double>(own + other);
    plan->mean = Adoption::Mean{share, 1 - share};
  }
  return plan;
}

Task Protocol::next_task(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (inbox_.depth() > 0) return {};  // first all that is held is applied
  if (offered_model_) return adopt_offered(now);
  if (wants_copy_ && !copies_.empty() &&
      log().has_all_of(names().without(copies_.models().back().names))) {  // the last copy will do
    wants_copy_ = false;
    copied_at_ = now;
    loosen();
  }
  if (!wants_copy_ && !wants_snapshot_) return {};
  is_copying_ = std::exchange(wants_copy_, false);
  for (auto& [id, link] : links_)
    if (link->wants_model) {  // from here on the log keeps everything for it
      link->promised = names();
      link->behind = false;
    }
  return CopyModel{names()};
}

Task Protocol::adopt_offered(Nanoseconds now) {
  auto adoption = plan(now);
  const WorkerId from = pulled_from_;
  offered_model_.reset();
  if (!adoption) {
    if (!stuck_since_) stuck_since_ = now;
    do_not_pull_[from] = now + options_.retry_adoption;
    return {};
  }
  stuck_since_.reset();
  if (!joined()) {
    members_.me().joined = true;
    members_.me().joined_at = adoption->names.size();
    say(now, fmt::format("joined at step {}, with the model of {}", adoption->names.size(),
                         label(from)));
    update_cut_state(now);
  } else {
    say(now, fmt::format("adopted the model of {}: {} more gradients, {} kept", label(from),
                         adoption->names.count_missing_from(names()),
                         names().count_missing_from(adoption->from.names)));
  }
  holdings_.adopt(*adoption);
  if (adoption->abandoned.size() > 0) {
    say(now, fmt::format("{} gradients are abandoned", adoption->abandoned.size()));
    copies_.keep_within(names());
  }
  is_to_correct_ = adoption->mean.has_value();
  report_soon();
  check_budget(now);
  return std::move(*adoption);
}

void Protocol::cannot_correct() {
  const std::lock_guard lock(mutex_);
  is_to_correct_ = false;
}

void Protocol::remember(Model before, Model after, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  copies_.add(std::move(before));
  copies_.keep_within(names());
  copies_.add(std::move(after));
  copied_at_ = unsettled_at_ = now;
}

void Protocol::copied(Model model, Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_copying_, false)) {
    copies_.add(model);
    loosen();
    copied_at_ = unsettled_at_ = now;
  }
  if (!std::exchange(wants_snapshot_, false)) return;
  snapshot_ = std::move(model);
  snapshot_at_ = now;
  snapshot_is_new_ = true;
}

void Protocol::pull(Nanoseconds now) {
  if (offered_model_ || end_.is_ready() || end_.is_over()) return;
  if (pulling_) {
    const Link& link = *links_.at(*pulling_);
    if (link.sums || now - pulled_at_ < options_.await_model) return;
    do_not_pull_[link.member] = now + options_.await_model;
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
    const std::uint64_t missing = link->reported.count_missing_from(names());
    const bool same_for_long = link->lacked.count_missing_from(names()) > 0 &&
                               now - link->lacked_since > options_.lacks_for_long;
    const bool needed = missing > 0 && (link->reports_without_stream >= 2 || same_for_long);
    if (joined() && !needed) continue;
    if (best && missing <= most) continue;
    best = link.get();
    most = missing;
  }
  if (!best) return;
  pulling_ = best->id;
  best->asked = true;
  pulled_at_least_ = best->reported;
  pulled_at_ = now;
  transmit(*best, Want{});
}

}  // namespace dasgd::elastic
