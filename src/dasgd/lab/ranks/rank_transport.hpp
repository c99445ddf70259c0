// Brings the letters of rivals from rank to rank.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/lab/rivals/real_arena.hpp"
#include "dasgd/transport/mpi/async_messenger.hpp"
#include "dasgd/transport/mpi/communicator.hpp"

namespace dasgd {

/// Worker i is on rank i * ranks / workers, a server on rank 0. One thread, in `run`, calls MPI: it
/// sends, receives, sums (MPI_Iallreduce) and agrees on the end.
template <typename Real>
class RankTransport final : public RivalTransport<Real> {
 public:
  /// `sums`: the workers of this rival, one on every rank, exchange nothing but sums. Then the wish
  /// to end travels in the sums, so that nobody is left alone in one; else rank 0 announces it.
  RankTransport(mpi::Communicator& ranks, std::size_t workers, bool sums,
                std::function<void(const std::string&)> fatal);

  bool is_here(std::size_t participant) const override;
  void carry(std::size_t to, RivalMessage<Real> letter) override;
  bool sum_over_workers(std::span<Real> values) override;
  void ask_for_the_end() override;
  [[noreturn]] void abandon(std::exception_ptr failure) override;

  /// The body of the thread that calls MPI, from the beginning until all ranks have ended.
  void run(RealArena<Real>& arena);

 private:
  int rank_of(std::size_t participant) const;
  bool send_what_waits();
  bool receive();
  bool sum();
  bool announce_end();
  bool has_ended();
  void end();

  mpi::Communicator& ranks_;
  const std::size_t workers_;
  const bool sums_;
  const std::function<void(const std::string&)> fatal_;
  RealArena<Real>* arena_ = nullptr;
  // Of the thread that calls MPI:
  mpi::AsyncMessenger messenger_;
  std::vector<Real> sums_under_way_;  // the vector, and how many want the end
  bool summing_ = false, end_announced_ = false;

  std::mutex mutex_;  // guards all below
  std::condition_variable summed_;
  std::deque<std::pair<int, std::vector<std::byte>>> outgoing_;
  std::optional<std::span<Real>> to_sum_;
  bool wants_end_ = false, ended_ = false;
};

}  // namespace dasgd
