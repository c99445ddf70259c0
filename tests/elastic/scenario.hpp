// A story of members that come, die, get cut off and come back, made of one number.
#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

#include "dasgd/elastic/world/world.hpp"
#include "dasgd/problems/quadratic.hpp"

namespace dasgd::elastic {

inline WorldOptions quick_world(std::uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  options.eta = 0.002;
  options.compute = 200'000'000;
  options.protocol.in_flight = 4;
  options.protocol.most_waiting_bytes = 1;  // so that links are soon behind
  options.protocol.yield_after = 2'000'000'000;
  options.protocol.give_up_after = 10'000'000'000;
  options.protocol.patience = {.suspect = 600'000'000,
                               .gone = 2'000'000'000,
                               .alone = 6'000'000'000,
                               .first_dial = 50'000'000,
                               .slowest_dial = 500'000'000};
  return options;
}

struct Told {
  std::string wrong;  ///< empty: nothing
  std::size_t events = 0, survivors = 0, crashes = 0;
  std::uint64_t gradients = 0;
  std::uint64_t yielded = 0;    ///< given up because the options said so
  std::uint64_t abandoned = 0;  ///< given up because nothing else was possible
  bool split = false;           ///< survivors ended with different names, cut from each other
  std::vector<std::string> history;
};

/// Plays the scenario of this seed to its end and looks at what must hold.
inline Told play(std::uint64_t seed) {
  static const Quadratic objective = Quadratic::random(7, 4);
  Told told;
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  WorldOptions options = quick_world(seed);
  options.protocol.merge = std::array{Merge::average, Merge::together, Merge::yield}[below(3)];
  options.latency = std::array{200'000, 2'000'000, 30'000'000}[below(3)];
  World<double> world(objective, options);
  world.add();
  for (std::size_t n = below(6); n > 0; --n) {
    world.run_for(static_cast<Nanoseconds>(below(300)) * 1'000'000);
    world.add();
  }
  const auto living = [&] {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < world.size(); ++i)
      if (world.is_alive(i) && !world.is_over(i)) found.push_back(i);
    return found;
  };
  Nanoseconds calm_at = 0;  // when the last cut and the last stop are over
  for (const std::size_t all = 10 + below(8); told.events < all; ++told.events) {
    world.run_for(static_cast<Nanoseconds>(below(1500)) * 1'000'000);
    const auto here = living();
    if (here.empty()) break;
    const std::size_t one = here[below(here.size())];
    const auto span =
        static_cast<Nanoseconds>(below(40) == 0 ? 12'000 : 50 + below(4000)) * 1'000'000;
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
        world.add();
        break;
      case 3:
        if (here.size() > 1) world.crash(one), ++told.crashes;
        break;
      case 4:
        if (here.size() > 1)
          world.crash_after(one, 1 + static_cast<std::uint32_t>(below(60))), ++told.crashes;
        break;
      case 5:
        if (here.size() > 2 && below(2)) world.power_off(one), ++told.crashes;
        break;
      case 6:
        if (here.size() > 1) world.leave(one);
        break;
      case 7:
      case 8:
        world.freeze(one, span);
        calm_at = std::max(calm_at, world.now() + span);
        break;
      default: {
        std::vector<bool> side(world.size());
        for (std::size_t i = 0; i < side.size(); ++i) side[i] = below(2) == 1;
        world.cut(side, 2 * span);
        calm_at = std::max(calm_at, world.now() + 2 * span);
      }
    }
  }
  // Half of the stories end in calm, with everybody in one place again.
  const bool calm = below(2) == 0;
  if (calm) world.run_for(std::max<Nanoseconds>(0, calm_at - world.now()) + 15'000'000'000);
  const auto here = living();
  const std::size_t crashes = told.crashes;
  // One of them where all see each other; a side that is cut off has to be told as well.
  for (const std::size_t i : here)
    if (!calm || i == here.front() || below(2)) world.stop_run(i);
  if (!here.empty() && !world.run_until_over(60'000'000'000)) told.wrong = "the run does not end";
  told.history = world.history();
  for (std::size_t i = 0; i < world.size(); ++i)
    if (world.is_alive(i) && !world.is_over(i))
      told.history.push_back(fmt::format("w{}: {}", i, world.protocol(i).describe()));
  if (told.wrong.empty()) told.wrong = world.verify();
  std::string names, digest;
  for (std::size_t i = 0; i < world.size(); ++i) {
    if (!world.is_alive(i) || !world.is_over(i)) continue;
    const auto audit = world.protocol(i).audit();
    (options.protocol.merge == Merge::yield ? told.yielded : told.abandoned) +=
        audit.abandoned.size();
    if (!audit.agreed) continue;
    ++told.survivors;
    told.gradients = std::max(told.gradients, world.worker(i).t());
    if (!names.empty() && names != audit.names.text()) told.split = true;
    names = audit.names.text();
  }
  if (told.wrong.empty() && calm && told.split && crashes == told.crashes)
    told.wrong = "members that see each other ended with different names";
  return told;
}

}  // namespace dasgd::elastic
