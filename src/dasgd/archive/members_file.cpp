#include "dasgd/archive/members_file.hpp"

#include <nlohmann/json.hpp>

namespace dasgd {

std::string members_json(std::span<const elastic::MemberOutcome> members) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const elastic::MemberOutcome& m : members)
    all.push_back({{"worker", all.size()},
                   {"origin", m.origin},
                   {"name", m.name},
                   {"end", m.end},
                   {"came", m.came},
                   {"went", m.went},
                   {"joined_at_step", m.joined_at_step},
                   {"gradients", m.gradients}});
  return all.dump(2) + "\n";
}

}  // namespace dasgd
