// Worlds by name.
#pragma once

#include <string>
#include <vector>

#include "dasgd/lab/referee/contest/contest.hpp"

namespace dasgd {

/// equal, straggler:X, lognormal:SIGMA, exponential, sqrt, slow-links, thin-nic, birch:1..4: what
/// the name says is changed in `usual`, everything else stays. `model_bytes` is what one model
/// takes on a link. Throws InputError, with a suggestion, for another name.
ContestWorld named_world(const std::string& name, const ContestWorld& usual,
                         std::size_t model_bytes);

/// The forms of names and what they mean, for help.
struct WorldForm {
  std::string form, meaning;
};
const std::vector<WorldForm>& world_forms();

}  // namespace dasgd
