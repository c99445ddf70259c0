// One worker's place on its rank: an inbox.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "dasgd/transport/endpoint.hpp"
#include "dasgd/transport/gradient_pool.hpp"
#include "dasgd/transport/inbox.hpp"
#include "dasgd/transport/mpi/hub.hpp"

namespace dasgd::mpi {

/// The worker's thread takes from the inbox; the progress thread and other workers of the rank add
/// to it through the hub. Everything that leaves goes to the hub.
class RankNode final : public Endpoint {
 public:
  /// `place`: where the numbers of its own gradients shall lie.
  RankNode(WorkerId self, std::size_t in_flight, std::function<Nanoseconds()> clock, Hub& hub,
           GradientPool::Place place);

  void receive(std::size_t limit, Received& received) override;
  std::shared_ptr<Gradient> blank() override;
  void send(GradientPtr gradient) override;
  void applied(const Received& received) override;
  Nanoseconds now() const override { return clock_(); }

  void announce(std::uint32_t computed) override;
  std::optional<std::uint64_t> announced_total() const override;
  void wait(std::chrono::milliseconds limit) override { inbox_.wait(limit); }
  void wake() override { inbox_.wake(); }
  std::size_t inbox_depth() const override { return inbox_.depth(); }
  std::uint64_t copies_dropped() const override;
  Traffic sent() const override { return hub_.sent(self_); }
  Nanoseconds waited() const override { return waited_.load(std::memory_order_relaxed); }

  /// To which the hub adds.
  Inbox<int>& inbox() { return inbox_; }

 private:
  const WorkerId self_;
  const std::function<Nanoseconds()> clock_;
  Hub& hub_;
  std::shared_ptr<GradientPool> pool_;
  std::vector<int> received_from_;  // whence the last received batch came; the worker's thread
  std::atomic<Nanoseconds> waited_{0};

  Inbox<int> inbox_;  // its lock is taken while the hub's is held, never the other way
};

}  // namespace dasgd::mpi
