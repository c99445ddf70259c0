// What one worker computes a network with.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "dasgd/adapters/torch/blas.hpp"
#include "dasgd/adapters/torch/device/device_data.hpp"
#include "dasgd/adapters/torch/device/device_step.hpp"
#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/core/names.hpp"
#include "dasgd/core/oracle.hpp"
#include "dasgd/data/draws/loader.hpp"

namespace dasgd::torch_adapter {

/// The mean of vectors of one size, coordinate by coordinate.
std::vector<float> mean_of(const std::vector<std::vector<float>>& all);

/// The buffers of one worker, for evaluations: as of its last gradient. On a CPU the worker leaves
/// a copy after every gradient; on a device it is copied when somebody looks.
class SharedBuffers {
 public:
  void publish(std::vector<float> values);
  /// With the lock held: from now on they are read from there, ...
  void read_from(const Instance* instance) { instance_ = instance; }
  /// ... or are these.
  void keep(std::vector<float> values) {
    instance_ = nullptr;
    values_ = std::move(values);
  }
  /// Empty before the first gradient.
  std::vector<float> view() const;
  /// Held while a device is given work.
  std::mutex& mutex() const { return mutex_; }

 private:
  mutable std::mutex mutex_;
  const Instance* instance_ = nullptr;
  std::vector<float> values_;
};

/// What an oracle knows of its run.
struct OracleParts {
  const Samples& samples;
  Loader& loader;
  std::uint64_t seed;
  WorkerId worker;
  std::shared_ptr<const DeviceData> data;  ///< null: batches are gathered by this machine
  std::shared_ptr<StepRecorder> recorder;  ///< null: steps are not recorded
};

class NetworkOracle final : public Oracle<float> {
 public:
  NetworkOracle(OracleParts parts, std::unique_ptr<Instance> instance,
                std::shared_ptr<SharedBuffers> buffers);
  ~NetworkOracle() override;

  std::unique_ptr<Replica<float>> make_replica(std::span<const float> x0) override;
  double gradient(ComputePoint<float>& point, const Batch& batch,
                  std::span<float> gradient) override;
  bool makes_whole_steps() const override;
  std::optional<WholeStep> whole_step(ComputePoint<float>& point, const Batch& batch,
                                      UpdateRule<float>& rule, std::uint64_t t,
                                      Update& update) override;
  void run_ahead() override { ahead_of_device_ = true; }
  void give_memory_back(UpdateRule<float>& rule) override;
  Bytes state() const override;
  void restore(std::span<const Bytes> states) override;

 private:
  Random chance(std::uint64_t number) const;
  std::shared_ptr<PendingBatch> pending(Rows rows, std::uint64_t number);
  std::shared_ptr<PendingBatch> take(const Batch& batch);

  /// Counts right answers before the samples are learned from.
  void test(ComputePoint<float>& point, const SampleBatch& samples);

  const OracleParts parts_;
  const bool tests_first_ = parts_.samples.arrivals().has_value();
  const std::unique_ptr<Instance> instance_;
  const std::shared_ptr<SharedBuffers> buffers_;
  std::optional<BlasCaller> caller_;  // on a CPU
  std::unique_ptr<DeviceStep> step_;  // from the first whole step on
  bool ahead_of_device_ = false;
  std::shared_ptr<PendingBatch> ahead_;  // the batch that will probably be asked for next
  SampleBatch spare_;                    // memory to be used again
};

}  // namespace dasgd::torch_adapter
