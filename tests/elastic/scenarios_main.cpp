// elastic_scenarios FIRST COUNT [-v]: plays seeded stories on all processors, prints the seed of
// every one that fails, and what was covered. With -v it tells each story, one after the other.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <thread>

#include "scenario.hpp"

namespace {

struct Tally {
  std::uint64_t failed = 0, events = 0, gradients = 0, crashes = 0, abandoned = 0, yielded = 0,
                split = 0;
  std::size_t fewest = SIZE_MAX, longest_log = 0;
  std::map<std::string, std::uint64_t> deaths;

  void count(std::uint64_t seed, const dasgd::elastic::Told& told, bool talk) {
    events += told.events;
    fewest = std::min(fewest, told.events);
    longest_log = std::max(longest_log, told.longest_log);
    gradients += told.gradients;
    crashes += told.crashes;
    abandoned += told.abandoned;
    yielded += told.yielded;
    split += told.split ? 1 : 0;
    for (const auto& [what, times] : told.deaths) deaths[what] += times;
    if (talk)
      for (const auto& line : told.history) std::cout << line << "\n";
    if (told.abandoned > 0) std::cout << "seed " << seed << " abandons " << told.abandoned << "\n";
    if (told.wrong.empty()) return;
    ++failed;
    std::cout << "seed " << seed << ": " << told.wrong << "; again: elastic_scenarios " << seed
              << " 1 -v\n";
  }
};

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  const bool talk = argc > 3 && std::strcmp(argv[3], "-v") == 0;
  Tally tally;
  std::mutex mutex;  // guards the tally and the output
  std::atomic<std::uint64_t> next = first;
  {
    std::vector<std::jthread> players(talk ? 1 : std::max(1u, std::thread::hardware_concurrency()));
    for (std::jthread& player : players)
      player = std::jthread([&] {
        for (std::uint64_t seed = next++; seed < first + count; seed = next++) {
          const auto told = dasgd::elastic::play(seed);
          const std::lock_guard lock(mutex);
          tally.count(seed, told, talk);
        }
      });
  }
  for (const auto& [what, times] : tally.deaths)
    std::cout << "died " << times << ": " << what << "\n";
  std::cout << count << " scenarios, " << tally.events << " events, at least " << tally.fewest
            << " each, " << tally.crashes << " crashes in " << tally.deaths.size()
            << " kinds of moments, " << tally.gradients << " gradients in the models, "
            << tally.yielded << " yielded, " << tally.abandoned << " abandoned, " << tally.split
            << " ended apart, " << tally.longest_log << " in the longest log, " << tally.failed
            << " failed\n";
  return tally.failed == 0 ? 0 : 1;
}
