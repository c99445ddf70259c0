// A worker that a loop in Python feeds: alone, on a rank, or as a member of an elastic run.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <pybind11/pybind11.h>
#include <span>
#include <stop_token>
#include <string>
#include <sys/types.h>
#include <vector>

#include "dasgd/cluster/value_board.hpp"
#include "dasgd/config/config.hpp"
#include "dasgd/members/launched.hpp"
#include "dasgd/record/checkpoints/checkpoint.hpp"
#include "dasgd/runtime/peer.hpp"
#include "peer_record.hpp"
#include "ranks.hpp"

namespace dasgd::python {

/// What was done before the checkpoint with whose model a loop begins.
struct PeerBefore {
  std::uint64_t gradients = 0, samples = 0;
  double seconds = 0;
};

/// Its process may fork: what the child gets of it is not touched. One thread at a time, except
/// where said otherwise.
class PythonPeer {
 public:
  /// With `before`, the model is that of a checkpoint, and one who joins takes the run's.
  /// `optimizer`: the name of the one whose changes are the gradients; empty: a rule's.
  PythonPeer(std::span<const float> start, const pybind11::dict& keywords, std::size_t batch,
             const std::optional<PeerBefore>& before, const std::string& optimizer);
  ~PythonPeer();
  PythonPeer(const PythonPeer&) = delete;
  PythonPeer& operator=(const PythonPeer&) = delete;

  Peer<float>& peer() { return *peer_; }
  bool is_of_process() const;
  /// Throws InputError in a fork of the process that made it.
  void require_process() const;

  /// Ends the run for everybody, as a budget would. Any thread.
  void ask_to_end() { asked_.request_stop(); }
  /// Of the whole run, once it is over; empty where it failed.
  const std::string& summary() const { return summary_; }
  void finish();
  /// Ends the run as a signal would, everywhere but in an elastic run, and waits for that. Any
  /// thread.
  void close();
  bool is_over() { return peer_->wait_for(std::chrono::milliseconds(0)) == false; }

  /// Whether it is a member of an elastic run.
  bool is_member() const { return launched_.has_value(); }
  /// Of a member: gives a value to the others, and has the last ones of all who are here, the
  /// eldest first.
  std::vector<std::optional<std::string>> exchange(const std::string& value);
  /// Gives a value to the others while the run goes; its round.
  std::size_t give(const std::string& value);
  std::optional<std::vector<std::optional<std::string>>> given(std::size_t round,
                                                               std::chrono::milliseconds limit) {
    return values_.wait_for(round, limit);
  }
  /// When it is over: those of all ranks that have not left.
  std::vector<std::optional<std::string>> gather_at_end(char purpose, const std::string& value);
  std::vector<float> mean(std::span<const float> own);
  /// Any thread.
  void log(const std::map<std::string, double>& values);

  /// Nothing where members come and go.
  std::optional<std::size_t> rank() const;
  std::optional<std::size_t> size() const;
  /// The same for no two workers.
  std::uint64_t number() const { return launched_ ? number_.load() : ranks_.rank(); }
  std::string name() const;
  std::uint64_t seed() const { return seed_; }
  bool is_first();
  /// In the model, those before a checkpoint included.
  std::uint64_t gradients() const { return before_.gradients + peer_->gradients(); }
  std::uint64_t samples() const { return before_.samples + peer_->samples(); }
  std::optional<double> gradient_budget() const { return gradient_budget_; }
  std::optional<double> max_seconds() const { return max_seconds_; }
  double seconds() const;
  std::string directory();
  std::string url();

 private:
  using Engine = Peer<float>::Engine;

  Engine on_ranks(const RunOnRanks& how);
  Engine as_member(members::MemberOptions member);
  members::MemberOptions member_options(std::span<const float> start, bool takes_start,
                                        const std::stop_token& stop);
  std::vector<float> same_start(std::span<const float> own, const RunOnRanks& how);
  void begin(std::vector<float> x0, TrainOptions options, std::size_t batch, const Engine& engine);
  PeerRecord* open_record(const Objective<float>& objective);
  void write_rest();

  Ranks& ranks_;
  const std::optional<members::Launched> launched_;  // as a member of an elastic run
  const pid_t process_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  config::Config config_;
  const std::string optimizer_;
  PeerBefore before_;
  Checkpoint earlier_;  // where there was something before
  std::uint64_t seed_ = 1;
  std::optional<double> gradient_budget_, max_seconds_;
  std::atomic<std::uint64_t> number_{0};
  std::string summary_;
  std::stop_source asked_;
  ValueBoard values_;

  std::mutex mutex_;  // guards the next five
  members::Member* member_ = nullptr;
  bool was_first_ = false;
  std::vector<std::string> words_;  // of the end
  PeerRecord* record_now_ = nullptr;
  bool is_written_ = false;

  std::unique_ptr<PeerRecord> record_;
  std::unique_ptr<Peer<float>> peer_;  // last: its thread uses all above
};

}  // namespace dasgd::python
