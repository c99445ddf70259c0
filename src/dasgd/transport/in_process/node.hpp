// One worker's place in the in-process mesh.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "dasgd/transport/gradient_pool.hpp"
#include "dasgd/transport/in_process/mesh.hpp"
#include "dasgd/transport/inbox.hpp"

namespace dasgd::in_process {

/// An inbox and an outbox behind one lock that is never held while another is taken.
///
/// Links are FIFO because an outbox is emptied by one thread at a time, its *carrier*: whoever adds
/// to an outbox that nobody carries becomes its carrier and stays so until it is empty; everybody
/// else adds and leaves. What a worker received and what it computed leave through the same outbox
/// in the order in which they came in, hence delivery with relay on arrival or application is
/// causal, as long as nothing is folded while it is relayed on application.
///
/// *Nobody waits for room.* A worker that needs a buffer while all of its own are on their way
/// folds the inboxes in which they wait. With relay on application a gradient is passed on when it
/// is applied or folded, whatever comes first: its numbers are not there any more afterwards.
class Node final : public Endpoint {
 public:
  Node(WorkerId self, const Graph& graph, const MeshOptions& options,
       std::vector<std::unique_ptr<Node>>& nodes, const std::unique_ptr<Carrier>& carrier);

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
  Traffic sent() const override;
  bool has_lost() const override { return has_lost_.load(std::memory_order_relaxed); }
  Nanoseconds waited() const override { return waited_.load(std::memory_order_relaxed); }
  std::size_t most_buffers() const { return pool_->most_allocated(); }

  /// Takes in a frame that a carrier brought from `from`, and passes on what follows from it.
  void arrive(const Frame& frame, WorkerId from);
  /// Drops everything that is still here.
  void clear();

 private:
  struct Outgoing {
    Frame frame;
    WorkerId from;  // the neighbour it came from, or the worker itself
  };

  /// Takes in a frame from `from`. True if the calling thread has become the carrier of the outbox.
  bool deliver(const Frame& frame, WorkerId from);
  /// Folds what waits here if gradients of `origin` are among it. Any thread.
  void fold(WorkerId origin);
  /// Adds own or applied frames to the outbox and carries them if nobody does. Any thread.
  void post(std::vector<Outgoing> outgoing);
  /// Calls `deliver`. Where that throws, somebody misses a frame, and all workers are to know.
  template <typename Deliver>
  void without_loss(Deliver&& deliver);
  /// Moves the outbox to `load`; false, and the outbox has no carrier any more, when it is empty.
  bool unload(std::vector<Outgoing>& load);
  void carry();
  void count(const Frame& frame);

  const WorkerId self_;
  const std::function<Nanoseconds()> clock_;
  std::vector<std::unique_ptr<Node>>& nodes_;
  const std::unique_ptr<Carrier>& carrier_;
  std::shared_ptr<GradientPool> pool_;
  std::vector<WorkerId> received_from_;  // whence the last received batch came; the worker's thread
  std::atomic<std::uint64_t> messages_{0}, bytes_{0};
  std::atomic<Nanoseconds> waited_{0};
  std::atomic<bool> has_lost_{false};

  Inbox<WorkerId> inbox_;  // its lock guards all below
  Relay relay_;
  std::vector<Outgoing> outbox_;
  bool carried_ = false;
};

}  // namespace dasgd::in_process
