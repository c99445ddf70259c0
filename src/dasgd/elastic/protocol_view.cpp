// What a member shows of itself and of the others: to people, to the summary and to tests.
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/link.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

std::vector<Event> Protocol::take_events() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

std::vector<MemberView> Protocol::members(Nanoseconds now) const {
  const std::lock_guard lock(mutex_);
  std::vector<MemberView> views;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const WorkerId id = worker_id(i);
    const Member& m = members_[id];
    if (m.state == MemberState::unknown) continue;
    MemberView view{.name = label(id),
                    .origin = roster_.origin(id),
                    .gradients = holdings_.announced(id),
                    .rate = m.rate,
                    .since_seconds = static_cast<double>(now - m.since) * 1e-9,
                    .ended = m.state == MemberState::ended};
    const Link* link = nullptr;
    for (const auto& [number, l] : links_)
      if (l->open && l->member == id) link = l.get();
    if (link) {
      view.behind = names().count_missing_from(link->reported);
      view.link_bytes_per_second = link->bytes_per_second;
    }
    switch (m.state) {
      case MemberState::silent:
        view.state = "gone";
        break;
      case MemberState::dead:
        view.state = "dead";
        break;
      case MemberState::left:
      case MemberState::ended:
        view.state = "left";
        break;
      default: {
        const bool quiet = i > 0 && (m.link_broken || now - m.heard > options_.patience.suspect);
        const bool cut = i == 0 ? cut_off_ : quiet;
        view.state = cut ? "cut off" : link && link->behind ? "behind" : "here";
      }
    }
    views.push_back(std::move(view));
  }
  return views;
}

Protocol::Audit Protocol::audit() const {
  const std::lock_guard lock(mutex_);
  Audit audit;
  audit.abandoned = holdings_.abandoned().without(names());
  const auto missing = holdings_.missing_beside(audit.abandoned);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const WorkerId id = worker_id(i);
    const MemberState state = members_[id].state;
    if (holdings_.announced(id) == 0 && members_.never_joined(id)) continue;
    ++audit.members;
    if (state == MemberState::here || state == MemberState::ended) ++audit.here;
    if (state == MemberState::left) ++audit.left;
    if (state == MemberState::silent || state == MemberState::dead || state == MemberState::unknown)
      ++audit.lost_members;
    if (i < missing.size() && missing[i] > 0) audit.lost_gradients[label(id)] += missing[i];
  }
  audit.joined_at = members_.me().joined_at;
  audit.names = roster_.hash(names());
  audit.agreed = end_.has_agreed();
  for (std::size_t i = 0; end_.has_agreed() && i < members_.size(); ++i) {
    const Record& r = members_[worker_id(i)].record;
    if (r.digest != Hash{} && (i == 0 || r.names == audit.names))
      audit.digests.emplace_back(label(worker_id(i)), r.digest);
  }
  audit.has_left = members_.me().left;
  audit.too_late = end_.too_late();
  audit.copies_dropped = copies_dropped_;
  audit.sent = sent_;
  for (const auto& [member, to] : sent_to_)
    audit.links.push_back({label(member), to.messages, to.gradients, to.bytes,
                           static_cast<double>(to.last - to.first) * 1e-9});
  return audit;
}

std::vector<std::pair<Origin, std::string>> Protocol::numbering() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<Origin, std::string>> found;
  for (std::size_t i = 0; i < roster_.size(); ++i)
    found.emplace_back(roster_.origin(worker_id(i)), label(worker_id(i)));
  return found;
}

std::vector<std::string> Protocol::addresses() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!members_[worker_id(i)].record.address.empty() &&
        members_[worker_id(i)].state == MemberState::here)
      found.push_back(members_[worker_id(i)].record.address);
  return found;
}

const char* Protocol::role() const {
  const std::lock_guard lock(mutex_);
  if (!joined()) return "newcomer";
  if (end_.is_leaving()) return "leaving";
  if (end_.is_ready()) return "ready to end";
  if (end_.ending()) return "ending";
  if (offered_model_ || pulling_) return "taking over";
  if (wants_snapshot_ || snapshot_) return "sponsor";
  if (cut_off_) return "cut off";
  return members_.is_oldest_here() ? "eldest" : "member";
}

std::string Protocol::describe() const {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format(
      "holds {} log {} ending {} stopped {} over {} ready {} cut {} copies {} pulling {} offered "
      "{} "
      "stuck {}",
      names().size(), log().size(), end_.ending().has_value(), end_.has_stopped(), end_.is_over(),
      end_.is_ready(), cut_off_, copies_.models().size(), pulling_.has_value(),
      offered_model_.has_value(), stuck_since_.has_value());
  for (const WorkerId m : members_.here())
    text += fmt::format(" | here {} stopped {} t {}", label(m), members_[m].record.stopped,
                        members_[m].record.t);
  for (const auto& [id, link] : links_)
    text += fmt::format(
        " | link {} open {} behind {} they lack {} we lack {} streams {}/{} wants {}",
        link->open ? label(link->member) : "?", link->open, link->behind,
        names().count_missing_from(link->reported), link->reported.count_missing_from(names()),
        can_stream(*link), link->peer_can_stream, link->wants_model);
  return text;
}

}  // namespace dasgd::elastic
