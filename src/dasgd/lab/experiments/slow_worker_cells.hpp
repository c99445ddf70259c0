// Finished runs of the slow-worker experiment on disk, so that an interrupted one goes on.
#pragma once

#include <optional>
#include <string>

#include "dasgd/lab/experiments/slow_worker.hpp"

namespace dasgd {

class SlowWorkerCells {
 public:
  /// Empty: nothing is kept or found.
  SlowWorkerCells(std::string directory, const SlowWorkerPlan& plan);

  /// The run with the same setting, where it is kept.
  std::optional<SlowWorkerRun> find(const SlowWorkerRun& wanted) const;
  void keep(const SlowWorkerRun& run) const;

 private:
  std::string stem(const SlowWorkerRun& run) const;

  const std::string directory_, setting_;
};

}  // namespace dasgd
