// What a member leaves in its run directory beside what every run leaves, and what it reports.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::members {

/// members.json: who is who by the numbers that the trace uses; addresses: where to find members
/// after a crash of this one.
void write_members(const std::filesystem::path& directory, const elastic::Protocol& protocol,
                   Nanoseconds now);
/// The addresses that a member knew. Empty where none are written.
std::vector<std::string> known_addresses(const std::filesystem::path& directory);
/// The name of the member that ran in `directory`. Empty where none is written.
std::string former_name(const std::filesystem::path& directory);

/// What `dasgd status --json` prints.
std::string status_json(const elastic::Protocol& protocol, Nanoseconds now);

/// As others can dial it: what is `advertised`, with the port of `listened` instead of port 0; else
/// an address of this machine instead of "any".
std::string reachable(const std::string& listened, const std::string& advertised);
/// Throws InputError unless it is a host and a port.
void require_address(const std::string& address);
/// Where a joiner listens: on the interface over which it reaches the others.
std::string usual_listen(const std::string& contact);

}  // namespace dasgd::members
