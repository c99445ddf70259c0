// A worker's whole step on its device.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "dasgd/adapters/torch/device/device_data.hpp"
#include "dasgd/adapters/torch/device/device_point.hpp"
#include "dasgd/adapters/torch/device/device_replica.hpp"
#include "dasgd/adapters/torch/device/device_rule.hpp"
#include "dasgd/adapters/torch/device/recorder.hpp"
#include "dasgd/adapters/torch/device/step_graph.hpp"
#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/core/oracle.hpp"

namespace dasgd::torch_adapter {

/// Forward, backward, the rule, then rounding, the own sum and x in one pass: put into the worker's
/// stream without a look at the device in between. On a GPU all but the last pass, which writes to
/// where the gradient is handed over, is recorded as one graph for every size of batch, at its
/// third step, and then replayed; what changes from step to step goes in through memory whose place
/// is fixed. Owned by one thread.
class DeviceStep {
 public:
  /// `data` may be null: then every batch is copied to the device. So may `recorder`: then no step
  /// is recorded. All references must outlive its steps.
  DeviceStep(Instance& instance, DeviceReplica& replica, const Recipe& recipe,
             const DirectionMemory<float>& memory, std::shared_ptr<const DeviceData> data,
             std::shared_ptr<StepRecorder> recorder);
  ~DeviceStep();

  /// Returns while the device still computes the step, and reports the step before.
  void run_ahead() { ahead_ = true; }
  bool data_is_there() const { return data_ != nullptr; }

  /// One step with the samples that `ask` writes a request for (data_is_there), ...
  WholeStep step(LookAheadPlan& ahead, Samples::Rows rows, Random& chance, double eta,
                 Update& update);
  /// ... or with these.
  WholeStep step(LookAheadPlan& ahead, const SampleBatch& batch, double eta, Update& update);

  DirectionMemory<float> memory() const;

 private:
  /// A step for one size of batch.
  struct Plan {
    Instance::Inputs in;  // with data on the device only:
    at::Tensor request;
    unsigned runs = 0;
    std::unique_ptr<StepGraph> graph;
  };
  /// What this machine gives to a step and hears of it, in memory that the device can reach. Two
  /// take turns: a step begins to fill its own when the step before last has ended.
  struct Slot {
    at::Tensor knobs, notes;
    Instance::Inputs in;
    at::Tensor request;
    DeviceMoment done;
    double eta = 0;
  };

  Slot& begin(double eta);
  WholeStep finish(LookAheadPlan& ahead, Plan& plan, Slot& slot, Update& update);
  void work(const Plan& plan);
  void work_or_record(Plan& plan);
  void start(Plan& plan);
  void round(Update& update);
  WholeStep report(const Slot& slot, std::uint32_t steps_ago);
  WholeStep::Divergence divergence(const Slot& slot, bool out_of_range);

  Instance& instance_;
  DeviceReplica& replica_;
  const std::shared_ptr<DeviceMemory> memory_;
  DeviceRule rule_;
  DevicePoint point_;
  const std::shared_ptr<const DeviceData> data_;
  const std::shared_ptr<StepRecorder> recorder_;
  bool ahead_ = false;
  at::Tensor knobs_;
  std::map<std::size_t, Plan> plans_;  // by the size of the batch
  std::array<Slot, 2> slots_;
  std::uint64_t steps_ = 0;
  double last_loss_ = 0;                                     // that was finite
  std::optional<WholeStep::Divergence> pending_divergence_;  // before the next step is made
};

}  // namespace dasgd::torch_adapter
