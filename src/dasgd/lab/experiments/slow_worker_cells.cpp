#include "dasgd/lab/experiments/slow_worker_cells.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "dasgd/lab/experiments/cell_file.hpp"
#include "dasgd/record/json_number.hpp"

namespace dasgd {

using Json = nlohmann::ordered_json;

SlowWorkerCells::SlowWorkerCells(std::string directory, const SlowWorkerPlan& plan)
    : directory_(std::move(directory)),
      setting_(fmt::format("target {} compute +{} ns", plan.target_error, plan.compute.count())) {
  if (!directory_.empty()) std::filesystem::create_directories(directory_);
}

std::string SlowWorkerCells::stem(const SlowWorkerRun& run) const {
  return fmt::format("{}/{}-eta-{}-slow-{}-seed-{}", directory_, run.way, run.eta, run.factor,
                     run.seed);
}

std::optional<SlowWorkerRun> SlowWorkerCells::find(const SlowWorkerRun& wanted) const {
  if (directory_.empty()) return std::nullopt;
  const Json cell = find_cell(stem(wanted), setting_);
  if (cell.is_null()) return std::nullopt;
  try {
    SlowWorkerRun run = wanted;
    run.L = cell.at("L");
    run.r0 = cell.at("r0");
    if (cell.at("Q").is_number()) run.Q = cell["Q"].get<double>();
    run.squared_gradients = cell.at("squared_gradients");
    RunSummary& s = run.summary;
    s.gradients = cell.at("gradients");
    s.iterations = cell.at("iterations").get<std::vector<std::uint64_t>>();
    s.time = cell.at("time").get<std::vector<Nanoseconds>>();
    s.staleness.S_avg = cell.at("S_avg");
    s.staleness.S_max = cell.at("S_max");
    s.staleness.S_hat_avg = cell.at("S_hat_avg");
    s.staleness.S_hat_max = cell.at("S_hat_max");
    s.staleness.W = cell.at("W").get<std::uint64_t>();
    s.stop_reason = cell.at("reached").get<bool>() ? StopReason::target : StopReason::diverged;
    return run;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // of another form: it runs again
  }
}

void SlowWorkerCells::keep(const SlowWorkerRun& run) const {
  if (directory_.empty()) return;
  const RunSummary& s = run.summary;
  keep_cell(stem(run), {{"setting", setting_},
                        {"L", run.L},
                        {"r0", run.r0},
                        {"Q", run.Q ? Json(*run.Q) : Json(nullptr)},
                        {"squared_gradients", json_number(run.squared_gradients)},
                        {"gradients", s.gradients},
                        {"iterations", s.iterations},
                        {"time", s.time},
                        {"S_avg", s.staleness.S_avg},
                        {"S_max", s.staleness.S_max},
                        {"S_hat_avg", s.staleness.S_hat_avg},
                        {"S_hat_max", s.staleness.S_hat_max},
                        {"W", s.staleness.W.value_or(0)},
                        {"reached", s.stop_reason == StopReason::target}});
}

}  // namespace dasgd
