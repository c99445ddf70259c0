// Where the workers of a rank and its progress thread meet. Knows no MPI.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "dasgd/core/bytes.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/transport/frame.hpp"
#include "dasgd/transport/mpi/layout.hpp"
#include "dasgd/transport/relay.hpp"
#include "dasgd/transport/wire.hpp"

namespace dasgd::mpi {

/// A frame for the neighbours of this rank, all but the one it came from.
struct Relayed {
  Frame frame;
  int from_rank;
};
/// One message for one rank.
struct Direct {
  int to_rank;
  Bytes message;
};
using Outgoing = std::variant<Relayed, Direct>;

/// One rank's outbox, its part in flooding, and the account of what is on its way.
///
/// What a rank received and what its workers computed leave through the one outbox in the order in
/// which they came in, and the progress thread sends in that order; so links are FIFO, and delivery
/// with relay on arrival or application is causal.
///
/// *Bounded memory.* A worker may have `in_flight` own gradients on their way. One is on its way
/// until every rank has let go of it: its workers have applied it and it has been passed on. Ranks
/// tell the origin how many they have let go of. Nobody else ever refuses or delays a gradient:
/// there is room for `in_flight` of every worker on every rank. *This cannot deadlock*, for the
/// same reason as in one process: outboxes are emptied without waiting for any worker, and a worker
/// always applies what is in its inbox.
///
/// Its lock is taken while a pool's is held, and nodes' locks are taken while it is held; never the
/// other way round. No gradient is let go of while it is held.
class Hub {
 public:
  /// Where gradients for one worker go.
  class Inbox {
   public:
    virtual ~Inbox() = default;
    virtual void deliver(const GradientPtr& gradient, int from_rank) = 0;
    virtual void wake() = 0;
  };

  /// `rank_graph` must outlive the hub.
  Hub(int self, const Layout& layout, const Graph& rank_graph, RelayMode relay,
      std::size_t in_flight);

  /// Before anything else: the inboxes of this rank's workers, in order.
  void connect(std::vector<Inbox*> inboxes) { inboxes_ = std::move(inboxes); }

  // Of the workers' threads.
  bool has_room(WorkerId own) const;
  void send(GradientPtr own);
  void applied(std::span<const GradientPtr> gradients, std::span<const int> from_ranks);
  void announce(Announcement own);

  // Of the progress thread.
  /// The header of a gradient has arrived: true if no copy has before.
  bool is_first_copy(GradientName name);
  /// A first copy is complete.
  void arrived(const GradientPtr& gradient, int from_rank);
  void arrived(const Announcement& announcement, int from_rank);
  void released(int by_rank, const wire::Release& release);
  template <typename Send>
  void for_each_target(int from_rank, Send&& send) const {
    relay_.for_each_target(worker_id(static_cast<std::size_t>(from_rank)),
                           [&](WorkerId rank) { send(static_cast<int>(index(rank))); });
  }
  /// Empties the outbox into `to`, whose content is dropped.
  void take_outbox(std::vector<Outgoing>& to);
  /// Sleeps until the outbox has something, the hub was closed, or `limit` has passed.
  void wait(std::chrono::microseconds limit);

  // Of any thread.
  void tell(int rank, Bytes message);
  /// This rank has let go of a foreign gradient.
  void let_go(const Gradient& foreign);
  /// What was posted so far is the last that leaves.
  void close();
  bool closed() const;
  std::optional<std::uint64_t> announced_total() const;
  /// Of the rank; told as the first worker's.
  std::uint64_t copies_dropped(WorkerId worker) const;

 private:
  void post(Outgoing outgoing);  // under the lock

  const int self_;
  const Layout layout_;
  const std::size_t in_flight_, tell_after_;
  std::vector<Inbox*> inboxes_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable posted_;
  Relay relay_;
  GradientSet passed_on_;  // with relay on application: what has left this rank
  std::vector<Outgoing> outbox_;
  bool sleeping_ = false, woken_ = false, closed_ = false;
  std::vector<std::uint64_t> sent_;                      // per own worker
  std::vector<std::vector<std::uint64_t>> released_by_;  // per own worker and rank
  std::vector<std::uint64_t> let_go_, told_;             // per foreign worker
};

}  // namespace dasgd::mpi
