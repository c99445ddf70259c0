// Links that delay, reorder, duplicate, drop and part, between real workers.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "dasgd/topology/graph.hpp"
#include "dasgd/transport/carrier.hpp"
#include "dasgd/transport/chaos.hpp"

namespace dasgd::faulty {

/// A thread holds every frame until its time has come, or all are released. What happens to the
/// k-th frame of a link is drawn from the seed; when that frame is sent is up to the workers.
class FaultyLinks final : public Carrier {
 public:
  using Failed = std::function<void(std::exception_ptr)>;

  /// Times are those of `clock`. `failed` gets what an arrival throws; its frame is lost.
  FaultyLinks(const Chaos& chaos, const Graph& graph, std::uint64_t seed,
              std::function<Nanoseconds()> clock, Arrival arrival, Failed failed);

  void carry(WorkerId from, WorkerId to, const Frame& frame) override;
  void deliver_held_back() override;
  void stop() override;

 private:
  struct Due {
    Nanoseconds time;
    std::uint64_t order;  // of sending, at equal times
    WorkerId from, to;
    Frame frame;
  };
  struct Later {
    bool operator()(const Due& a, const Due& b) const {
      return std::pair(a.time, a.order) > std::pair(b.time, b.order);
    }
  };
  void run(const std::stop_token& end);

  const Chaos chaos_;
  const std::uint64_t seed_;
  const std::function<Nanoseconds()> clock_;
  const Arrival arrival_;
  const Failed failed_;
  std::mutex mutex_;  // guards the four below
  std::map<std::pair<WorkerId, WorkerId>, DisturbedLink> links_;
  std::priority_queue<Due, std::vector<Due>, Later> due_;
  std::uint64_t sent_ = 0;
  bool nothing_is_held_ = false;
  std::condition_variable_any changed_;
  std::jthread thread_;
};

}  // namespace dasgd::faulty
