// The members of one elastic run against each other: what `dasgd check DIR DIR...` says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace dasgd::members {

struct MembersCheck {
  std::vector<std::string> violations;  ///< the first contradiction first
  std::size_t members = 0, survivors = 0, left = 0, unfinished = 0;
  std::string set_hash, replica_digest;
  std::uint64_t gradients = 0;  ///< in the model of the survivors
  std::uint64_t applications = 0,
                known = 0;  ///< in traces; of these, with a D(g) to hold S against
  std::map<std::string, std::uint64_t> lost;  ///< known ones, by member
  std::uint64_t abandoned = 0;

  bool ok() const { return violations.empty(); }
};

/// Whether this is the directory of a member of an elastic run.
bool is_member_directory(const std::string& path);

/// Holds set, digest and losses of those who ended against each other, and every S against the sets
/// in the traces, where there are traces. Throws InputError for what cannot be read.
MembersCheck check_members(const std::vector<std::string>& directories);

}  // namespace dasgd::members
