// What a member shows of itself and of the others: to people, to the summary and to tests.
#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {

namespace {

std::uint64_t bytes_of(const std::optional<Model>& model) {
  return model && model->sums ? model->sums->size() : 0;
}

}  // namespace

Kept Protocol::kept() const {
  const std::lock_guard lock(mutex_);
  Kept kept{.log = log().size_in_bytes()};
  for (const Model& model : retention_.copies().models()) kept.copies += bytes_of(model);
  kept.models = bytes_of(snapshots_.last()) + bytes_of(takeover_.offered());
  return kept;
}

// How long ago the oldest of what the other end has not reported came here.
double Protocol::seconds_behind(const MemberLink& link, Nanoseconds now) const {
  Nanoseconds oldest = now;
  names().for_each_range_missing_from(link.stream.reported(),
                                      [&](WorkerId origin, std::uint32_t first, std::uint32_t) {
                                        if (const auto since = log().since({origin, first}))
                                          oldest = std::min(oldest, *since);
                                      });
  return static_cast<double>(now - oldest) * 1e-9;
}

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
    MemberView view{.name = members_.label(id),
                    .origin = roster_.origin(id),
                    .gradients = holdings_.announced(id),
                    .rate = m.rate,
                    .since_seconds = static_cast<double>(now - m.since) * 1e-9,
                    .relation = tree_.relation(id),
                    .ended = m.state == MemberState::ended};
    const MemberLink* link = links_.to(id);
    if (link) {
      view.behind = names().count_missing_from(link->stream.reported());
      view.link_bytes_per_second = link->bytes_per_second;
      view.seconds_behind = seconds_behind(*link, now);
      const LinkFigures sent = links_.sent_to(id);
      view.messages = sent.messages;
      view.gradients_sent = sent.gradients;
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
        const bool cut = i == 0 ? cut_.is_cut_off() : quiet;
        view.state = cut ? "cut off" : link && link->stream.is_behind() ? "behind" : "here";
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
    const bool is_me_leaving = i == 0 && members_.me().left;
    const MemberState state = is_me_leaving ? MemberState::left : members_[id].state;
    if (holdings_.announced(id) == 0 && members_.never_joined(id)) continue;
    ++audit.members;
    if (state == MemberState::here || state == MemberState::ended) ++audit.here;
    if (state == MemberState::left) ++audit.left;
    if (state == MemberState::silent || state == MemberState::dead || state == MemberState::unknown)
      ++audit.lost_members;
    if (i < missing.size() && missing[i] > 0)
      audit.lost_gradients[members_.label(id)] += missing[i];
  }
  audit.joined_at = members_.me().joined_at;
  audit.names = roster_.hash(names());
  audit.agreed = end_.has_agreed();
  for (std::size_t i = 0; end_.has_agreed() && i < members_.size(); ++i) {
    const Record& r = members_[worker_id(i)].record;
    if (r.digest != Hash{} && (i == 0 || r.names == audit.names))
      audit.digests.emplace_back(members_.label(worker_id(i)), r.digest);
  }
  audit.difference = comparison_.difference();
  audit.found_equal = comparison_.equal();
  audit.has_left = members_.me().left;
  audit.too_late = end_.too_late();
  audit.copies_dropped = holdings_.copies_dropped();
  audit.sent = links_.sent();
  audit.links = links_.figures([this](WorkerId member) { return members_.label(member); },
                               [this](WorkerId member) { return tree_.relation(member); });
  return audit;
}

std::vector<std::pair<Origin, std::string>> Protocol::numbering() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<Origin, std::string>> found;
  for (std::size_t i = 0; i < roster_.size(); ++i)
    found.emplace_back(roster_.origin(worker_id(i)), members_.label(worker_id(i)));
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
  if (takeover_.is_under_way()) return "taking over";
  if (snapshots_.is_wanted() || snapshots_.has_one()) return "sponsor";
  if (cut_.is_cut_off()) return "cut off";
  return members_.is_oldest_here() ? "eldest" : "member";
}

std::string Protocol::describe() const {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format(
      "holds {} log {} ending {} stopped {} over {} ready {} cut {} copies {} pulling {} offered "
      "{} "
      "stuck {}",
      names().size(), log().size(), end_.ending().has_value(), end_.has_stopped(), end_.is_over(),
      end_.is_ready(), cut_.is_cut_off(), retention_.copies().models().size(),
      takeover_.pulling().has_value(), takeover_.offered().has_value(), takeover_.is_stuck());
  for (const WorkerId m : members_.here())
    text += fmt::format(" | here {} stopped {} t {}", members_.label(m), members_[m].record.stopped,
                        members_[m].record.t);
  for (const auto& [id, link] : links_)
    text += fmt::format(
        " | link {} open {} behind {} they lack {} we lack {} streams {}/{} wants {}",
        link.open ? members_.label(link.member) : "?", link.open, link.stream.is_behind(),
        names().count_missing_from(link.stream.reported()),
        link.stream.reported().count_missing_from(names()), link.stream.can_stream(holdings_),
        link.stream.peer_can_stream(), link.stream.wants_model());
  return text;
}

}  // namespace dasgd::elastic
