// What rank 0 settles for all ranks before a run begins.
#pragma once

#include <optional>
#include <string>

#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "dasgd/rules/schedule.hpp"

namespace dasgd::app {

struct RankStart {
  double eta = 0;                        ///< given, or advised
  std::string schedule;                  ///< likewise
  std::optional<Checkpoint> checkpoint;  ///< where a resumed run goes on
};

std::string to_bytes(double eta, const Schedule& schedule,
                     const std::optional<Checkpoint>& checkpoint);
/// Throws CorruptCheckpoint.
RankStart rank_start(const std::string& bytes);

}  // namespace dasgd::app
