// What the workers of all ranks remember, for the checkpoints that rank 0 writes.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include "dasgd/cluster/messages.hpp"
#include "dasgd/runtime/boards/snapshot_board.hpp"
#include "dasgd/transport/mpi/layout.hpp"

namespace dasgd::cluster {

/// Joins the boards of all ranks to one. Nobody waits: a state that has not come is represented by
/// the one before, or is empty. A rank is asked again only when it has answered, so no more than
/// one state of every worker is on its way.
class CarryOverExchange {
 public:
  using Send = std::function<void(int rank, const Message& message)>;

  /// `send` is called on the threads of workers and of the one that writes checkpoints.
  CarryOverExchange(const mpi::RankLayout& layout, int self, Send send);

  SnapshotBoard& board() { return board_; }

  // On the thread that receives.
  void hear(const StateRequest&) { board_.ask_memories(); }
  /// False for a piece that `from` cannot have sent.
  bool hear(int from, StatePart piece);

 private:
  OtherBoards other_boards();
  void ask_others();
  void send(WorkerId worker, const CarryOver& carry_over);

  const mpi::RankLayout layout_;
  const int self_;
  const Send send_;
  std::vector<Bytes> arriving_;    // per worker; of the thread that receives
  std::mutex mutex_;               // guards the next
  std::vector<std::size_t> owed_;  // answers, per rank
  SnapshotBoard board_;
};

}  // namespace dasgd::cluster
