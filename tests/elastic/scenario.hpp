// A scenario of members that come, die, get cut off and come back, made of one number.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "dasgd/elastic/world/world.hpp"
#include "dasgd/problems/quadratic.hpp"

namespace dasgd::elastic {

inline WorldOptions quick_world(std::uint64_t seed) {
  WorldOptions options;
  options.seed = seed;
  options.run.eta = 0.002;
  options.run.workers = 1;
  options.run.total_gradients = UINT64_MAX;
  options.compute = 200'000'000;
  options.protocol.limits.in_flight = 4;
  options.protocol.limits.most_waiting_bytes = 1;  // so that links are soon behind
  options.protocol.yield_after = 2'000'000'000;
  options.protocol.give_up_after = 10'000'000'000;
  options.protocol.patience = {.suspect = 600'000'000,
                               .gone = 2'000'000'000,
                               .alone = 6'000'000'000,
                               .first_dial = 50'000'000,
                               .slowest_dial = 500'000'000};
  return options;
}

/// Members send one frame after the other, each of which takes `duration(from, bytes)`: an arrival
/// for WorldOptions.
template <typename Duration>
auto one_frame_at_a_time(Duration duration) {
  return [duration, free_at = std::map<std::size_t, Nanoseconds>()](
             std::size_t from, std::size_t, std::size_t bytes, Nanoseconds now) mutable {
    return free_at[from] = std::max(now, free_at[from]) + duration(from, bytes);
  };
}

struct Outcome {
  std::string wrong;  ///< empty: nothing
  std::size_t events = 0, survivors = 0, crashes = 0, longest_log = 0;
  std::uint64_t gradients = 0;
  std::uint64_t yielded = 0;    ///< given up because the options said so
  std::uint64_t abandoned = 0;  ///< given up because nothing else was possible
  std::uint64_t compared = 0;   ///< models that were found equal while members computed
  bool split = false;           ///< survivors ended with different names, cut from each other
  Deaths deaths;
  std::vector<std::string> history;
};

/// Something that happens to the world; false if it is not possible now.
inline bool happen(World<double>& world, std::uint64_t what, std::mt19937_64& random,
                   Nanoseconds& calm_at) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::vector<std::size_t> here;
  std::size_t to_stay = 0;  // somebody with a model survives
  for (std::size_t i = 0; i < world.size(); ++i) {
    if (!world.is_alive(i) || world.is_over(i)) continue;
    here.push_back(i);
    const auto& protocol = world.protocol(i);
    to_stay += protocol.has_joined() && !protocol.ending() && !world.is_doomed(i) ? 1 : 0;
  }
  const std::size_t one = here[below(here.size())];
  const bool may_die = to_stay > 1 && !world.is_doomed(one);
  const auto span =
      static_cast<Nanoseconds>(below(40) == 0 ? 12'000 : 50 + below(4000)) * 1'000'000;
  // Kinds of frames that members send each other here.
  static constexpr std::size_t fatal[] = {0, 3, 4, 5, 6, 7, 2, 10};
  switch (what) {
    case 0:
    case 1:
      world.add();
      return true;
    case 2:  // one that may die on its way in
      world.add();
      if (below(2)) world.crash_at(world.size() - 1, {fatal[below(4)], below(2) == 1});
      return true;
    case 3:
      if (may_die) world.crash(one);
      return may_die;
    case 4:
      if (may_die) world.crash_after(one, 1 + static_cast<std::uint32_t>(below(60)));
      return may_die;
    case 5:
      if (may_die) world.crash_at(one, {fatal[below(8)], below(2) == 1});
      return may_die;
    case 6:
      if (may_die && below(2)) return world.power_off(one), true;
      if (may_die) world.leave(one);
      return may_die;
    case 7:
    case 8:
      world.freeze(one, span);
      calm_at = std::max(calm_at, world.now() + span);
      return true;
    default: {
      std::vector<bool> side(world.size());
      for (std::size_t i = 0; i < side.size(); ++i) side[i] = below(2) == 1;
      world.cut(side, 2 * span);
      calm_at = std::max(calm_at, world.now() + 2 * span);
      return true;
    }
  }
}

/// Plays the scenario of this seed to its end and looks at what must hold. With `children` members
/// form a tree. With `only_deaths` nobody is stopped or cut off.
inline Outcome play(std::uint64_t seed, std::size_t children = 0, bool only_deaths = false) {
  static const Quadratic objective = Quadratic::random(7, 4);
  Outcome outcome;
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  WorldOptions options = quick_world(seed);
  options.protocol.merge = std::array{Merge::average, Merge::union_of_both, Merge::yield}[below(3)];
  options.protocol.packs = seed % 2 == 1;
  options.protocol.limits.children = children;
  if (seed % 3 > 0) options.protocol.limits.most_queued_bytes = 1;  // messages wait for each other
  if (seed % 4 > 0) options.protocol.compare_every = 500'000'000;
  options.latency = std::array{200'000, 2'000'000, 30'000'000}[below(3)];
  World<double> world(objective, options);
  world.add();
  for (std::size_t n = below(6); n > 0; --n) {
    world.run_for(static_cast<Nanoseconds>(below(300)) * 1'000'000);
    world.add();
  }
  Nanoseconds calm_at = 0;  // when the last cut and the last stop are over
  for (const std::size_t all = 10 + below(8); outcome.events < all; ++outcome.events) {
    world.run_for(static_cast<Nanoseconds>(below(1500)) * 1'000'000);
    while (!happen(world, below(only_deaths ? 7 : 10), random, calm_at)) {
    }
  }
  // Half of the scenarios end in calm, with everybody in one place again.
  const bool calm = below(2) == 0;
  if (calm) world.run_for(std::max<Nanoseconds>(0, calm_at - world.now()) + 15'000'000'000);
  // One of them where all see each other; a side that is cut off has to be stopped as well.
  bool is_first = true;
  for (std::size_t i = 0; i < world.size(); ++i) {
    if (!world.is_alive(i) || world.is_over(i)) continue;
    if (!calm || is_first || below(2)) world.stop_run(i);
    is_first = is_first && world.is_doomed(i);  // it may die before others hear of it
  }
  if (!world.run_until_over(60'000'000'000)) outcome.wrong = "the run does not end";
  outcome.history = world.history();
  for (std::size_t i = 0; i < world.size(); ++i)
    if (world.is_alive(i) && !world.is_over(i))
      outcome.history.push_back(fmt::format("w{}: {}", i, world.protocol(i).describe()));
  outcome.deaths = world.deaths();
  for (const auto& [what, times] : outcome.deaths) outcome.crashes += times;
  outcome.longest_log = world.longest_log();
  if (outcome.wrong.empty()) outcome.wrong = world.verify();
  std::string names;
  for (std::size_t i = 0; i < world.size(); ++i) {
    const auto audit = world.protocol(i).audit();
    outcome.compared += audit.found_equal;
    if (!audit.difference.empty()) outcome.wrong = "models differ: " + audit.difference;
    if (!world.is_alive(i) || !world.is_over(i)) continue;
    (options.protocol.merge == Merge::yield ? outcome.yielded : outcome.abandoned) +=
        audit.abandoned.size();
    if (!audit.agreed) continue;
    ++outcome.survivors;
    outcome.gradients = std::max(outcome.gradients, world.worker(i).t());
    if (!names.empty() && names != audit.names.text()) outcome.split = true;
    names = audit.names.text();
  }
  if (outcome.wrong.empty() && only_deaths && outcome.abandoned > 0)
    outcome.wrong = "a survivor gave something up, and nobody was cut off";
  if (outcome.wrong.empty() && calm && outcome.split)
    outcome.wrong = "members that see each other ended with different names";
  return outcome;
}

}  // namespace dasgd::elastic
