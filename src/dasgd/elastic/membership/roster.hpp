// The members that were ever heard of, by the numbers that this process gives them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/elastic/membership/origin.hpp"

namespace dasgd::elastic {

/// Dense numbers for origins, in the order in which this process heard of them. They mean nothing
/// elsewhere.
class Roster {
 public:
  /// The number of an origin, a new one if it has none.
  WorkerId number(const Origin& origin);
  std::optional<WorkerId> find(const Origin& origin) const;
  const Origin& origin(WorkerId member) const { return origins_[index(member)]; }
  std::span<const Origin> origins() const { return origins_; }
  std::size_t size() const { return origins_.size(); }

  /// The same at every process for the same names of the same origins.
  Hash hash(const GradientSet& names) const;

 private:
  std::vector<Origin> origins_;
  std::map<Origin, WorkerId> numbers_;
};

/// What the two ends of a link call the members: each introduces its numbers once, before it uses
/// them.
class Introductions {
 public:
  /// The origins that the other end does not know yet, in the order of our numbers.
  std::span<const Origin> news(const Roster& roster);
  /// The other end reports further ones.
  void hear(std::span<const Origin> origins, Roster& roster);

  /// What we call the other end's number, if it was introduced.
  std::optional<WorkerId> ours(WorkerId theirs) const;
  /// A set as what has changed since the last one that went this way: thousands of dead members
  /// cost nothing.
  void write(const GradientSet& set, ByteWriter& to);
  /// The other end's set in our numbers; `from` fails where one of them was not introduced.
  GradientSet read(ByteReader& from);

 private:
  friend struct StateOf;
  struct Change {
    WorkerId origin{};
    std::uint32_t prefix = 0;
  };
  std::size_t announced_ = 0;
  std::vector<WorkerId> theirs_;
  std::vector<std::uint32_t> last_sent_, last_received_;  // prefixes of sets, in our numbers
};

}  // namespace dasgd::elastic
