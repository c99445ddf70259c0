// Whom to dial, and when.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "dasgd/elastic/link_table.hpp"

namespace dasgd::elastic {

class Dialer {
 public:
  Dialer(const ProtocolOptions& options, Wires& wires, Membership& members, const Roster& roster);

  /// Dials contacts and members whose time has come.
  void dial(const LinkTable& links, Nanoseconds now);
  /// The address of a link that was being dialed, which has an end now; empty: it was not.
  std::string settle(LinkId link);
  /// A dial has failed. The members that are dead because nobody is at their address.
  std::vector<WorkerId> fail(LinkId link, bool refused, const LinkTable& links, Nanoseconds now);
  /// It is known who is there: a contact no more.
  void found(const std::string& address) { contacts_.erase(address); }
  /// Up to some number everybody is linked to everybody; beyond, each chooses some.
  bool wants_link(WorkerId member) const;

 private:
  friend struct StateOf;
  // At once: whoever joins learns of all members there ever were.
  static constexpr std::size_t most_dialed = 64;
  void dial(const std::string& address);

  const ProtocolOptions& options_;
  Wires& wires_;
  Membership& members_;
  const Roster& roster_;
  std::map<std::string, Nanoseconds> contacts_;  // addresses of nobody yet: when to dial
  std::map<LinkId, std::string> dialing_;
};

}  // namespace dasgd::elastic
