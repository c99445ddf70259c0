#include "dasgd/runtime/checkpointer.hpp"

#include <exception>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "dasgd/run/leg.hpp"

namespace dasgd {

namespace {

void warn_of_checkpoints(const TrainOptions& options, const std::string& line) {
  if (options.warn) options.warn(line);
}

}  // namespace

template <typename Real>
void save_last_checkpoint(const TrainOptions& options, const Objective<Real>& objective,
                          const Worker<Real>& worker, const SnapshotBoard& board, double seconds,
                          std::uint32_t since_best) {
  if (!options.checkpoint.save) return;
  try {
    const auto sums = std::as_bytes(worker.replica().sums());
    options.checkpoint.save(checkpoint_of(options, objective.dimension(), objective.samples(),
                                          {{sums.begin(), sums.end()},
                                           worker.applied(),
                                           worker.samples(),
                                           board.carry_overs(),
                                           seconds,
                                           since_best}));
  } catch (const std::exception& error) {
    warn_of_checkpoints(options,
                        fmt::format("{}; the run ends without its last checkpoint", error.what()));
  }
}

Checkpointer::Checkpointer(const TrainOptions& options, std::size_t dimension, std::size_t samples,
                           Clock::time_point start, SnapshotBoard& board,
                           std::function<std::uint32_t()> since_best)
    : options_(options),
      dimension_(dimension),
      samples_(samples),
      start_(start),
      board_(board),
      since_best_(std::move(since_best)) {
  if (options.checkpoint.save && options.checkpoint.every.count() > 0)
    thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

void Checkpointer::run(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  bool failed = false;
  while (!pause_.wait_for(lock, stop, options_.checkpoint.every,
                          [&] { return stop.stop_requested(); })) {
    try {
      if (take(stop) && std::exchange(failed, false))
        warn_of_checkpoints(options_, "checkpoints can be written again");
    } catch (const std::exception& error) {
      if (!std::exchange(failed, true))
        warn_of_checkpoints(
            options_,
            fmt::format("{}; the run continues, and tries again at each checkpoint", error.what()));
    }
  }
}

bool Checkpointer::take(std::stop_token stop) {
  constexpr std::chrono::milliseconds grace(1000);
  board_.ask();
  auto replica = board_.wait(stop, grace);
  if (!replica) return false;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  options_.checkpoint.save(
      checkpoint_of(options_, dimension_, samples_,
                    {std::move(replica->sums), std::move(replica->applied), replica->samples,
                     std::move(replica->carry_overs), seconds, since_best_()}));
  return true;
}

template void save_last_checkpoint(const TrainOptions&, const Objective<float>&,
                                   const Worker<float>&, const SnapshotBoard&, double,
                                   std::uint32_t);
template void save_last_checkpoint(const TrainOptions&, const Objective<double>&,
                                   const Worker<double>&, const SnapshotBoard&, double,
                                   std::uint32_t);

}  // namespace dasgd
