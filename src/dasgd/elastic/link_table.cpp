#include "dasgd/elastic/link_table.hpp"

#include <utility>

#include "dasgd/core/packing.hpp"

namespace dasgd::elastic {

MemberLink& LinkTable::add(LinkId id, bool dialed, const std::string& remote, Nanoseconds now) {
  MemberLink& link = links_[id] = {};
  link.id = id;
  link.dialed = dialed;
  link.remote = remote;
  link.since = link.reported_at = now;
  return link;
}

const MemberLink* LinkTable::find(LinkId id) const {
  const auto at = links_.find(id);
  return at == links_.end() ? nullptr : &at->second;
}

const MemberLink* LinkTable::to(WorkerId member) const {
  for (const auto& [id, link] : links_)
    if (link.open && link.member == member) return &link;
  return nullptr;
}

std::optional<MemberLink> LinkTable::remove(LinkId id) {
  auto node = links_.extract(id);
  return node ? std::optional(std::move(node.mapped())) : std::nullopt;
}

std::vector<WorkerId> LinkTable::members() const {
  std::vector<WorkerId> members;
  for (const auto& [id, link] : links_)
    if (link.open) members.push_back(link.member);
  return members;
}

void LinkTable::send(MemberLink& link, const Message& message, std::span<const std::byte> body,
                     std::shared_ptr<const void> keeper) {
  Bytes header = encode(message, link.names, roster_);
  const std::size_t bytes = header.size() + body.size();
  link.bytes += bytes;
  sent_.bytes += bytes;
  if (link.open) {
    SentTo& to = sent_to_[link.member];
    if (to.bytes == 0) to.first = now_;
    to.bytes += bytes;
    to.last = now_;
  }
  wires_.send(link.id, std::move(header), body, std::move(keeper));
}

void LinkTable::send(MemberLink& link, const Parcel& parcel, Nanoseconds now) {
  ++sent_.messages;
  SentTo& to = sent_to_[link.member];
  ++to.messages;
  to.gradients += parcel.size();
  std::size_t own = 0;
  parcel.for_each(
      [&](const GradientFacts& g) { own += g.name.origin == Membership::self ? 1 : 0; });
  if (own > 0) chooser_.sent(own, now);
  const auto packed = [&](std::size_t bytes) {
    return std::make_shared<const Bytes>(pack(parcel.numbers(), bytes));
  };
  if (parcel.bundle) {
    const auto body = packed(sum_bytes(options_.format));
    return send(link, BundleMessage{parcel.bundle->facts(), options_.format}, *body, body);
  }
  const Gradient& gradient = *parcel.gradient;
  const GradientMessage message{gradient, gradient.update.shift, options_.format};
  if (options_.packs || chooser_.format() != MessageFormat::full) {
    const auto body = packed(number_bytes(options_.format));
    if (body->size() < options_.update_bytes()) return send(link, message, *body, body);
  }
  send(link, message, gradient.update.bytes(), parcel.gradient);
}

void LinkTable::report_soon() {
  for (auto& [id, link] : links_) link.reported_at = 0;
}

double LinkTable::measure(Nanoseconds now) {
  if (now - measured_at_ < ProtocolOptions::measure_every) return 0;
  const double seconds = static_cast<double>(now - std::exchange(measured_at_, now)) * 1e-9;
  for (auto& [id, link] : links_)
    link.bytes_per_second =
        static_cast<double>(link.bytes - std::exchange(link.bytes_before, link.bytes)) / seconds;
  return seconds;
}

}  // namespace dasgd::elastic
