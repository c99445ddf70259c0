// Who took part in an elastic run, as one of its members saw it: membership.jsonl of its directory.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dasgd::report {

/// Members in the order in which they were first seen: [{"name", "changes": [[seconds, state]]}].
/// Null where there is no such file. Of a long history the last changes are kept, after the state
/// that the earlier ones led to; lines that cannot be read are left out.
nlohmann::ordered_json read_membership(const std::string& directory);

}  // namespace dasgd::report
