// Messages of bytes and sums of numbers between ranks, without waiting.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/transport/mpi/communicator.hpp"

namespace dasgd::mpi {

/// Nothing here waits: `test` and `receive` are called again and again by the one thread that calls
/// MPI meanwhile. Made and ended by all ranks together.
class AsyncMessenger {
 public:
  struct Message {
    int rank = 0, tag = 0;
    std::vector<std::byte> bytes;
  };

  explicit AsyncMessenger(Communicator& ranks);
  ~AsyncMessenger();

  void send(int rank, int tag, std::vector<std::byte> bytes);
  /// True when something that was sent has been received.
  bool test();
  /// Whether all that was sent has been received.
  bool all_received() const;
  std::optional<Message> receive();

  /// Sums up over all ranks, in place, one at a time (MPI_Iallreduce).
  void begin_sum(std::span<float> values);
  void begin_sum(std::span<double> values);
  /// True when there is a sum and it is complete.
  bool sum_is_complete();

  /// This rank sends nothing any more. True when no rank does and all has been received.
  bool has_ended_everywhere();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dasgd::mpi
