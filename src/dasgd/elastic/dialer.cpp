#include "dasgd/elastic/dialer.hpp"

#include <algorithm>
#include <utility>

namespace dasgd::elastic {

Dialer::Dialer(const ProtocolOptions& options, Wires& wires, Membership& members,
               const Roster& roster)
    : options_(options), wires_(wires), members_(members), roster_(roster) {
  for (const std::string& address : options_.contacts)
    if (address != options_.address) contacts_[address] = 0;
}

std::string Dialer::settle(LinkId link) {
  auto node = dialing_.extract(link);
  return node ? std::move(node.mapped()) : std::string();
}

std::vector<WorkerId> Dialer::fail(LinkId id, bool refused, const LinkTable& links,
                                   Nanoseconds now) {
  std::vector<WorkerId> dead;
  if (!dialing_.contains(id)) return dead;
  const std::string address = settle(id);
  if (contacts_.contains(address) && !links.has_open())
    contacts_[address] = now + options_.redial_contact();
  for (std::size_t i = 1; i < members_.size(); ++i) {
    Member& member = members_[worker_id(i)];
    if (member.record.address != address || links.to(worker_id(i))) continue;
    if (member.state == MemberState::dead) continue;  // when to call it again is settled
    member.dial_pause = std::clamp(2 * member.dial_pause, options_.patience.first_dial,
                                   options_.patience.slowest_dial);
    member.dial_at = now + member.dial_pause;
    const bool fresh = !member.link_broken && member.state != MemberState::unknown &&
                       now - member.heard < options_.patience.suspect;
    // Nobody at an address that it may have guessed wrong proves nothing.
    const bool counts = member.address_is_right || member.state == MemberState::unknown;
    if (refused && counts && !fresh) dead.push_back(worker_id(i));
  }
  return dead;
}

bool Dialer::wants_link(WorkerId member) const {
  const auto here = members_.here();
  if (here.size() <= options_.limits.most_in_mesh) return true;
  // Everybody chooses some by a number that only the pair has.
  const auto weight = [this](WorkerId m) {
    return (options_.origin.low ^ roster_.origin(m).high) * 0x9e3779b97f4a7c15ull;
  };
  const auto better = std::count_if(here.begin(), here.end(), [&](WorkerId m) {
    return m != Membership::self && weight(m) < weight(member);
  });
  return static_cast<std::size_t>(better) < options_.limits.links;
}

void Dialer::dial(const std::string& address) {
  const bool is_dialing = std::any_of(dialing_.begin(), dialing_.end(),
                                      [&](const auto& d) { return d.second == address; });
  if (!is_dialing) dialing_[wires_.dial(address)] = address;
}

void Dialer::dial(const LinkTable& links, Nanoseconds now) {
  // The members that joined last are the likeliest to be alive.
  for (std::size_t i = members_.size() - 1; i > 0 && dialing_.size() < most_dialed; --i) {
    Member& member = members_[worker_id(i)];
    const bool may_be_alive =
        member.state != MemberState::left && member.state != MemberState::ended;
    if (!may_be_alive || member.record.address.empty() || now < member.dial_at) continue;
    if (links.to(worker_id(i)) || !wants_link(worker_id(i))) continue;
    // Of thousands of dead members hardly any comes back: each is dialed half as often each time.
    const bool dead = member.state == MemberState::dead;
    member.dial_at = now + (dead ? std::clamp(now - member.since, options_.patience.gone,
                                              options_.slowest_dial_of_dead())
                                 : options_.patience.slowest_dial);
    dial(member.record.address);
  }
  // Whoever is there may be on the other side of a cut, and all who know both sides may die.
  const Nanoseconds pause =
      links.has_open() ? options_.patience.gone : options_.patience.slowest_dial;
  for (auto& [address, at] : contacts_) {
    if (now < at) continue;
    at = now + pause;
    dial(address);
  }
}

}  // namespace dasgd::elastic
