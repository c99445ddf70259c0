// soak: plays random scenarios with the real program until its time is up (docs/testing.md).
// Exit status: 0 all was well, 1 something was wrong, 2 bad usage.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <random>

#include "soak/stage.hpp"
#include "support/temporary_directory.hpp"
#include "support/tiny_idx.hpp"

namespace {

namespace fs = std::filesystem;
using namespace dasgd;
using namespace dasgd::soak;
using Clock = std::chrono::steady_clock;

struct Request {
  double seconds = 60;
  std::uint64_t seed = std::random_device{}();
  std::optional<std::uint32_t> only;
  std::string binary = DASGD_BINARY;
};

struct Tally {
  std::size_t scenarios = 0, simulated = 0, processes = 0, blows = 0, failures = 0;
};

void report(const Verdict& verdict, std::uint64_t seed, std::uint32_t number,
            const std::string& directory) {
  fmt::print("soak: scenario {} of seed {} failed; it is in {}\n", number, seed, directory);
  for (const std::string& what : verdict.wrong) fmt::print("  wrong: {}\n", what);
  for (const std::string& line : verdict.played) fmt::print("  played: {}\n", line);
  fmt::print("  repeat: build/release/soak --seed {} --only {}\n", seed, number);
  std::fflush(stdout);
}

void play_one(const Request& request, std::uint32_t number, const std::string& data, Tally& tally) {
  std::string directory = (fs::temp_directory_path() / "dasgd-soak-XXXXXX").string();
  if (!::mkdtemp(directory.data())) throw std::runtime_error(directory + ": cannot be made");
  fs::copy(data, directory + "/data");  // so that what was played can be typed again
  const Scenario scenario = draw_scenario(request.seed, number, directory + "/data", directory);
  const Verdict verdict = play(scenario, request.binary, directory);
  ++tally.scenarios;
  tally.simulated += scenario.simulated ? 1 : 0;
  tally.processes += verdict.played.size() - verdict.blows;
  tally.blows += verdict.blows;
  if (verdict.wrong.empty()) {
    fs::remove_all(directory);
  } else {
    ++tally.failures;
    report(verdict, request.seed, number, directory);
  }
}

int soak_for(const Request& request) {
  const test::TemporaryDirectory data;
  test::write_tiny_idx(data);
  const auto end = Clock::now() + std::chrono::duration<double>(request.seconds);
  Tally tally;
  if (request.only) {
    play_one(request, *request.only, data.path(), tally);
  } else {
    for (std::uint32_t number = 0; Clock::now() < end; ++number)
      play_one(request, number, data.path(), tally);
  }
  fmt::print(
      "soak: seed {}: {} scenarios ({} simulated), {} processes, {} of them killed or interrupted; "
      "{} failed\n",
      request.seed, tally.scenarios, tally.simulated, tally.processes, tally.blows, tally.failures);
  return tally.failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  CLI::App app("Plays random scenarios with the real dasgd and checks what they leave behind");
  app.add_option("--seconds", request.seconds, "begin no scenario after this time")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", request.seed, "of all scenarios (default: another one each time)");
  app.add_option("--only", request.only, "this scenario of the seed alone");
  app.add_option("--binary", request.binary, "the program")->check(CLI::ExistingFile);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    return soak_for(request);
  } catch (const std::exception& error) {
    fmt::print(stderr, "soak: {}\n", error.what());
    return 1;
  }
}
