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

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/transport/endpoint.hpp"
#include "dasgd/transport/frame.hpp"
#include "dasgd/transport/inbox.hpp"
#include "dasgd/transport/mpi/layout.hpp"
#include "dasgd/transport/relay.hpp"

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

/// One rank's outbox and its part in flooding.
///
/// What a rank received and what its workers computed leave through the one outbox in the order in
/// which they came in, and the progress thread sends in that order; so links are FIFO, and delivery
/// with relay on arrival or application is causal; but see Backlog.
///
/// Inboxes' locks are taken while its own is held; never the other way round.
class Hub {
 public:
  /// `rank_graph` must outlive the hub.
  Hub(int self, const RankLayout& layout, const Graph& rank_graph, RelayMode relay);

  /// Before anything else: the inboxes of this rank's workers, in order.
  void connect(std::vector<Inbox<int>*> inboxes) { inboxes_ = std::move(inboxes); }

  // Of the workers' threads.
  /// How many frames now wait for the progress thread.
  std::size_t send(GradientPtr own);
  /// Of any thread: these have been applied or folded at one of the workers here.
  void applied(std::span<const GradientPtr> gradients, std::span<const int> from_ranks);
  void announce(Announcement own);

  // Of the progress thread.
  /// The header of a gradient has arrived: true if no copy has before.
  bool is_first_copy(GradientName name);
  /// The same of a bundle, whose names come one and all or not at all.
  bool is_first_copy(const GradientSet& names);
  /// An announcement, or a first copy that is complete.
  void arrived(const Frame& frame, int from_rank);
  template <typename Send>
  void for_each_target(int from_rank, Send&& send) const {
    relay_.for_each_target(worker_id(static_cast<std::size_t>(from_rank)),
                           [&](WorkerId rank) { send(static_cast<int>(index(rank))); });
  }
  /// Empties the outbox into `to`, whose content is dropped. True if the hub has been closed.
  bool take_outbox(std::vector<Outgoing>& to);
  /// Sleeps until the outbox has something, the hub was closed, or `limit` has passed.
  void wait(std::chrono::microseconds limit);

  // Of any thread.
  void send_note(int rank, Bytes message);
  /// Folds what waits for a worker here if a gradient of `origin`, or any where none is given, is
  /// among it.
  void fold(std::optional<WorkerId> origin);
  /// The same, bundles that came over links as well.
  void fold_bundles();
  /// What was posted so far is the last that leaves.
  void close();
  std::optional<std::uint64_t> announced_total() const;
  /// Of the rank; reported as the first worker's.
  std::uint64_t copies_dropped(WorkerId worker) const;
  /// A parcel has left this rank. What it relays is reported as the first worker's.
  void count(GradientName name, std::size_t bytes);
  Traffic sent(WorkerId worker) const;

 private:
  void post(Outgoing outgoing);  // under the lock
  void folded(const std::vector<Inbox<int>::Waiting>& waiting);

  const int self_;
  const RankLayout layout_;
  std::vector<Inbox<int>*> inboxes_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable posted_;
  Relay relay_;
  GradientSet passed_on_;  // with relay on application: what has left this rank
  std::vector<Outgoing> outbox_;
  bool sleeping_ = false, woken_ = false, closed_ = false;
  std::vector<Traffic> sent_;  // per own worker
};

}  // namespace dasgd::mpi
