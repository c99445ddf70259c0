// elastic_scenarios FIRST COUNT [-v]: plays seeded stories and prints the seed of every one that
// fails.
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "scenario.hpp"

int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1000;
  const bool talk = argc > 3 && std::strcmp(argv[3], "-v") == 0;
  std::uint64_t failed = 0, events = 0, gradients = 0, crashes = 0, abandoned = 0, yielded = 0,
                split = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto told = dasgd::elastic::play(seed);
    events += told.events;
    gradients += told.gradients;
    crashes += told.crashes;
    abandoned += told.abandoned;
    yielded += told.yielded;
    if (talk || told.abandoned > 0)
      std::cout << "seed " << seed << " abandons " << told.abandoned << "\n";
    split += told.split ? 1 : 0;
    if (talk)
      for (const auto& line : told.history) std::cout << line << "\n";
    if (told.wrong.empty()) continue;
    ++failed;
    std::cout << "seed " << seed << ": " << told.wrong << "; again: elastic_scenarios " << seed
              << " 1 -v\n";
  }
  std::cout << count << " scenarios, " << events << " events, " << crashes << " crashes, "
            << gradients << " gradients in the models, " << yielded << " yielded, " << abandoned
            << " abandoned, " << split << " ended apart, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
