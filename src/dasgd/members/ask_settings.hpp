// What a newcomer asks for before it can take part: the settings of the run.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>

#include "dasgd/elastic/protocol.hpp"
#include "dasgd/members/member.hpp"

namespace dasgd::members {

/// How long a joining member tries.
inline constexpr std::chrono::seconds join_limit{30};

/// Asks a running member for the settings of its run. Tries all addresses until one answers or the
/// time is over. Throws InputError with the reason. Nothing: it was stopped.
std::optional<elastic::Welcome> ask_settings(const MemberOptions& options,
                                             std::chrono::nanoseconds limit,
                                             std::stop_token stop = {});

}  // namespace dasgd::members
