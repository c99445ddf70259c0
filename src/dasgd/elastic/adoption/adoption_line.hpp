// How a member's adoptions are kept beside its trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dasgd/base/time.hpp"
#include "dasgd/elastic/adoption/adoption.hpp"
#include "dasgd/elastic/membership/origin.hpp"

namespace dasgd::elastic {

/// A line of adoptions.jsonl, with its newline: whose names the model has from now on. Names are by
/// origin, as `numbering` has them. `worker` where several members share the file.
std::string adoption_line(const Adoption& adoption, std::uint64_t t_before,
                          const std::vector<std::pair<Origin, std::string>>& numbering,
                          Nanoseconds now, std::optional<std::size_t> worker = {});

}  // namespace dasgd::elastic
