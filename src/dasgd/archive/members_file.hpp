// Who took part in a simulated run whose members came and went.
#pragma once

#include <span>
#include <string>

#include "dasgd/elastic/world/simulate_members.hpp"

namespace dasgd {

/// members.json: who is who by the numbers that the trace uses, and what became of them.
std::string members_json(std::span<const elastic::MemberOutcome> members);

}  // namespace dasgd
