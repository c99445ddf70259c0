// The world of a simulation as it was asked for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/core/names.hpp"
#include "dasgd/virtual_time/arrivals.hpp"
#include "dasgd/virtual_time/time_model.hpp"

namespace dasgd::config {

/// A time as it was given, read once; `text` is what the config file says.
struct GivenTime {
  std::string text;
  TimeModel model = TimeModel::constant(0);
  std::map<std::pair<WorkerId, WorkerId>, Nanoseconds> of_link = {};  ///< of "file:PATH"
  std::string replay = {};  ///< the recorded run that has it; empty: it is given here
};

/// When workers begin: a time for each, or that of a recorded run.
struct GivenStart {
  std::string text;
  std::vector<Nanoseconds> times = {};
  std::string replay = {};
};

/// When samples arrive.
struct GivenArrivals {
  std::string text;
  std::optional<ArrivalTimes> times = {};
};

/// The settings that only a simulation has.
struct WorldSettings {
  GivenTime compute{"50ms", TimeModel::constant(50'000'000)};
  GivenTime latency{"50us", TimeModel::constant(50'000)};
  GivenTime apply{"5us", TimeModel::constant(5'000)};
  GivenStart start;
  GivenArrivals arrivals;
  std::optional<double> bandwidth;  ///< bytes per second of each link
  std::optional<double> nic;        ///< bytes per second of each node's network card
  std::size_t threads = 1;          ///< real cores
};

}  // namespace dasgd::config
