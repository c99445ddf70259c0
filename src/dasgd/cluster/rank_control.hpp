// What the ranks of a run say to each other beside gradients, and what follows from it.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/cluster/carry_over_exchange.hpp"
#include "dasgd/cluster/messages.hpp"
#include "dasgd/cluster/note_reader.hpp"
#include "dasgd/cluster/trace_window.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/runtime/control.hpp"
#include "dasgd/runtime/monitor.hpp"
#include "dasgd/transport/mpi/layout.hpp"

namespace dasgd::cluster {

/// One rank's part of the talk. Any thread, except where said otherwise.
class RankControl final : public RemoteWorkers {
 public:
  struct Outside {
    std::function<void(int rank, Bytes note)> send;
    std::function<void(double size)> early_loss;  ///< another rank has reported one
    std::function<void(const std::string& why)> failed;
    std::function<void(int rank, std::optional<std::string>)> value;  ///< another rank has given it
    std::function<void(const std::string& line)> log;                 ///< may be empty
  };

  /// `control` and the sinks of `options` must outlive this.
  RankControl(const mpi::RankLayout& layout, int self, const TrainOptions& options,
              Control& control, Outside outside);

  void send_to_first(const Message& message) { send(0, message); }
  void send_to_others(const Message& message);

  /// This rank stops: all ranks must, unless another rank asked for it.
  void stopped();
  /// All workers here have reached the target.
  void target_reached();
  SnapshotBoard& board() { return memories_.board(); }
  /// What this rank has sent of its trace.
  TraceWindow& trace_window() { return window_; }

  // For the monitor.
  void report(const std::vector<WorkerView>& here) override;
  std::vector<WorkerView> views() override;

  /// A note has arrived. On the thread that receives, which does not wait for what follows.
  void hear(int from, Bytes note) { reader_.add(from, std::move(note)); }
  /// When nothing arrives any more: what the other ranks did, on rank 0.
  std::map<int, RankReport> take_reports();

 private:
  void send(int rank, const Message& message) { outside_.send(rank, encode(message)); }

  // On the thread that reads.
  void read(int from, const Bytes& note);
  void heard(int from, Stop stop);
  void heard(int from, TargetReached);
  void heard(int from, Views views);
  void heard(int from, TracePart piece);
  void heard(int from, RankReport report);
  void heard(int from, StateRequest wanted);
  void heard(int from, StatePart piece);
  void heard(int from, EarlyLoss loss);
  void heard(int from, TraceAck taken);
  void heard(int from, GivenValue given);

  const mpi::RankLayout layout_;
  const int self_;
  TraceSink* const trace_;
  ApplicationSink* const watch_;
  Control& control_;
  const Outside outside_;
  std::atomic<bool> stop_is_known_{false};  // all ranks know, or will learn it from another
  std::atomic<int> ranks_without_target_;   // of rank 0
  CarryOverExchange memories_;
  TraceWindow window_;

  std::mutex mutex_;  // guards the two below
  std::map<int, std::vector<WorkerView>> views_;
  std::map<int, RankReport> reports_;
  NoteReader reader_;  // last: its thread uses all of the above
};

}  // namespace dasgd::cluster
