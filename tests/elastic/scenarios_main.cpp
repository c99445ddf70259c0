// elastic_scenarios FIRST COUNT [-v] [CHILDREN] [deaths]: plays seeded scenarios on all processors,
// prints the seed of every one that fails, and at which moment and in which role members died. With
// -v it prints each scenario, one after the other; with "deaths" nobody is stopped or cut off.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <set>
#include <thread>

#include "scenario.hpp"

namespace {

struct Tally {
  std::uint64_t failed = 0, events = 0, gradients = 0, crashes = 0, abandoned = 0, yielded = 0,
                compared = 0, split = 0;
  std::size_t fewest = SIZE_MAX, longest_log = 0;
  dasgd::elastic::Deaths deaths;

  void count(std::uint64_t seed, const dasgd::elastic::Outcome& outcome, bool talk) {
    events += outcome.events;
    fewest = std::min(fewest, outcome.events);
    longest_log = std::max(longest_log, outcome.longest_log);
    gradients += outcome.gradients;
    crashes += outcome.crashes;
    abandoned += outcome.abandoned;
    yielded += outcome.yielded;
    compared += outcome.compared;
    split += outcome.split ? 1 : 0;
    for (const auto& [what, times] : outcome.deaths) deaths[what] += times;
    if (talk)
      for (const auto& line : outcome.history) std::cout << line << "\n";
    if (outcome.abandoned > 0)
      std::cout << "seed " << seed << " abandons " << outcome.abandoned << "\n";
    if (outcome.wrong.empty()) return;
    ++failed;
    std::cout << "seed " << seed << ": " << outcome.wrong << "; again: elastic_scenarios " << seed
              << " 1 -v" << std::endl;
  }

  // A row for every moment, a column for every role.
  void print_deaths() const {
    std::set<std::string> moments, roles;
    for (const auto& [at, times] : deaths) moments.insert(at.first), roles.insert(at.second);
    std::cout << fmt::format("{:<18}", "died");
    for (const std::string& role : roles) std::cout << fmt::format(" {:>12}", role);
    for (const std::string& moment : moments) {
      std::cout << fmt::format("\n{:<18}", moment);
      for (const std::string& role : roles) {
        const auto times = deaths.find({moment, role});
        std::cout << fmt::format(" {:>12}", times == deaths.end() ? 0 : times->second);
      }
    }
    std::cout << "\n";
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  const bool talk = argc > 3 && std::strcmp(argv[3], "-v") == 0;
  const std::uint64_t children = argc > 3 && !talk ? std::strtoull(argv[3], nullptr, 10)
                                 : argc > 4        ? std::strtoull(argv[4], nullptr, 10)
                                                   : 0;
  const bool only_deaths = argc > 3 && std::strcmp(argv[argc - 1], "deaths") == 0;
  Tally tally;
  std::mutex mutex;  // guards the tally and the output
  std::atomic<std::uint64_t> next = first;
  {
    std::vector<std::jthread> players(talk ? 1 : std::max(1u, std::thread::hardware_concurrency()));
    for (std::jthread& player : players)
      player = std::jthread([&] {
        for (std::uint64_t seed = next++; seed < first + count; seed = next++) {
          const auto outcome = dasgd::elastic::play(seed, children, only_deaths);
          const std::lock_guard lock(mutex);
          tally.count(seed, outcome, talk);
        }
      });
  }
  tally.print_deaths();
  std::cout << count << " scenarios, " << tally.events << " events, at least " << tally.fewest
            << " each, " << tally.crashes << " crashes in " << tally.deaths.size()
            << " moments and roles, " << tally.gradients << " gradients in the models, "
            << tally.yielded << " yielded, " << tally.abandoned << " abandoned, " << tally.split
            << " ended apart, " << tally.compared << " models compared under way, "
            << tally.longest_log << " in the longest log, " << tally.failed << " failed\n";
  return tally.failed == 0 ? 0 : 1;
}
