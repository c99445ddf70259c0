// A run of the real program and what is done to it, drawn from (seed, number).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dasgd::soak {

/// Something that happens to a process while it runs.
struct Blow {
  enum class Kind { kill, interrupt };
  Kind kind = Kind::kill;
  int signal = 0;
  int after_ms = 0;  ///< since the start for a kill; since the run has begun for a signal
};

struct Scenario {
  bool simulated = false;
  std::vector<std::string> arguments;  ///< of dasgd, without the binary and --out
  std::vector<Blow> blows;             ///< one for each process; the last process has none
  bool resume_after_signal = false;    ///< else a run that was interrupted has ended
  std::vector<std::string> when_resumed;

  bool trace = false, json = false;
  bool repeat = false;  ///< of a simulation: once more, on two cores; the trace must be the same
  std::size_t workers = 1;
  std::string stop_reason = "budget";  ///< where nobody interrupts
  /// What the whole run comes to, where that is known.
  std::optional<std::uint64_t> gradients, samples;
};

/// `data`: a directory of images. `directory`: where the scenario may write a graph.
Scenario draw_scenario(std::uint64_t seed, std::uint32_t number, const std::string& data,
                       const std::string& directory);

}  // namespace dasgd::soak
