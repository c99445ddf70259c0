// The virtual world, as people write it.
#pragma once

#include <optional>
#include <string>

#include "dasgd/config/config.hpp"
#include "dasgd/elastic/world/simulate_members.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd::config {

/// "50ms", "1ms,2ms,5ms" (one per worker), "uniform:A:B", "lognormal:MEDIAN:SIGMA",
/// "exponential:MEAN", "replay:PATH" of a recorded run. Throw InputError.
GivenTime parse_compute(const std::string& text);
/// The same but one per worker, or "file:PATH" with lines "a b TIME".
GivenTime parse_latency(const std::string& text);
/// One time, or "replay:PATH".
GivenTime parse_apply(const std::string& text);
/// A time for each worker, or "replay:PATH".
GivenStart parse_start(const std::string& text);

/// The world of a config, for as many workers as given; 0: as many as it names. Recorded runs are
/// read here; what they have of fewer workers is repeated. Throws InputError.
VirtualWorld make_world(const Config& config, std::size_t workers);

/// How members of an elastic run judge silence, and what becomes of two models after a split.
elastic::Patience patience_of(const ElasticSettings& settings);
elastic::Merge merge_of(const ElasticSettings& settings);
/// What makes the simulated run of a config elastic; nothing if it is not. Throws InputError for
/// what cannot be.
std::optional<elastic::Scenario> make_scenario(const Config& config, const VirtualWorld& world);

}  // namespace dasgd::config
