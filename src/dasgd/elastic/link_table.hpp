// The links of a member: who is at the other end, and what has left on them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/traffic.hpp"
#include "dasgd/elastic/link.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/transport/message_chooser.hpp"

namespace dasgd::elastic {

class LinkTable {
 public:
  LinkTable(const ProtocolOptions& options, Wires& wires, const Roster& roster)
      : options_(options), wires_(wires), roster_(roster) {}

  MemberLink& add(LinkId id, bool dialed, const std::string& remote, Nanoseconds now);
  /// The link of this number, if there is one, ...
  const MemberLink* find(LinkId id) const;
  MemberLink* find(LinkId id) { return const_cast<MemberLink*>(std::as_const(*this).find(id)); }
  /// ... or the open one to this member.
  const MemberLink* to(WorkerId member) const;
  MemberLink* to(WorkerId member) {
    return const_cast<MemberLink*>(std::as_const(*this).to(member));
  }
  /// It is in the table no more.
  std::optional<MemberLink> remove(LinkId id);
  auto begin() { return links_.begin(); }
  auto end() { return links_.end(); }
  auto begin() const { return links_.begin(); }
  auto end() const { return links_.end(); }

  /// To whom there are open links.
  std::vector<WorkerId> members() const;
  bool has_open() const { return !members().empty(); }
  bool is_open(LinkId id) const { return find(id) && find(id)->open; }

  void send(MemberLink& link, const Message& message, std::span<const std::byte> body = {},
            std::shared_ptr<const void> keeper = nullptr);
  /// In as few bytes as its numbers allow.
  void send(MemberLink& link, const Parcel& parcel, Nanoseconds now);
  /// In how many bits updates are to be made, by how long they wait here.
  const MessageChooser& chooser() const { return chooser_; }
  /// What was sent to this member, links that broke included.
  LinkFigures sent_to(WorkerId member) const {
    const auto at = sent_to_.find(member);
    return at == sent_to_.end() ? LinkFigures{} : figures_of(at->second, "");
  }
  /// All are to be reported to with the next tick.
  void report_soon();

  /// The time for what leaves until the next tick.
  void tick(Nanoseconds now) { now_ = now; }
  /// Rates since the last time, where that is long enough ago. Over how many seconds; else 0.
  double measure(Nanoseconds now);
  const Traffic& sent() const { return sent_; }
  /// By the labels that `label(member)` gives to them, and their relations in the tree.
  template <typename Label, typename Relation>
  std::vector<LinkFigures> figures(Label&& label, Relation&& relation) const {
    std::vector<LinkFigures> all;
    for (const auto& [member, to] : sent_to_) {
      all.push_back(figures_of(to, label(member)));
      all.back().relation = relation(member);
    }
    return all;
  }

 private:
  friend struct StateOf;
  struct SentTo {
    std::uint64_t messages = 0, gradients = 0, bytes = 0;
    Nanoseconds first = 0, last = 0;
  };
  static LinkFigures figures_of(const SentTo& sent, std::string to) {
    return {std::move(to),  "",         sent.messages,
            sent.gradients, sent.bytes, static_cast<double>(sent.last - sent.first) * 1e-9};
  }

  const ProtocolOptions& options_;
  Wires& wires_;
  const Roster& roster_;
  std::map<LinkId, MemberLink> links_;
  Nanoseconds now_ = 0, measured_at_ = 0;
  Traffic sent_;
  std::map<WorkerId, SentTo> sent_to_;
  MessageChooser chooser_;
};

}  // namespace dasgd::elastic
