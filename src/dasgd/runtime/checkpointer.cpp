#include "dasgd/runtime/checkpointer.hpp"

#include <exception>
#include <utility>

#include "dasgd/run/leg.hpp"

namespace dasgd {

namespace {

void with_warning(const TrainOptions& options, const std::function<void()>& save) {
  try {
    save();
  } catch (const std::exception& error) {
    if (options.warn)
      options.warn(std::string(error.what()) + "; the run continues without this checkpoint");
  }
}

}  // namespace

void save_checkpoint(const TrainOptions& options, const std::function<Checkpoint()>& make) {
  with_warning(options, [&] { options.checkpoint.save(make()); });
}

template <typename Real>
void save_last_checkpoint(const TrainOptions& options, const Objective<Real>& objective,
                          const Worker<Real>& worker, const SnapshotBoard& board, double seconds,
                          std::uint32_t since_best) {
  if (!options.checkpoint.save) return;
  save_checkpoint(options, [&] {
    const auto sums = std::as_bytes(worker.replica().sums());
    return checkpoint_of(options, objective.dimension(), objective.samples(),
                         {{sums.begin(), sums.end()},
                          worker.applied(),
                          worker.samples(),
                          board.carry_overs(),
                          seconds,
                          since_best});
  });
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
  while (!pause_.wait_for(lock, stop, options_.checkpoint.every,
                          [&] { return stop.stop_requested(); }))
    with_warning(options_, [&] { take(stop); });
}

void Checkpointer::take(std::stop_token stop) {
  constexpr std::chrono::milliseconds grace(1000);
  board_.ask();
  auto replica = board_.wait(stop, grace);
  if (!replica) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  options_.checkpoint.save(
      checkpoint_of(options_, dimension_, samples_,
                    {std::move(replica->sums), std::move(replica->applied), replica->samples,
                     std::move(replica->carry_overs), seconds, since_best_()}));
}

template void save_last_checkpoint(const TrainOptions&, const Objective<float>&,
                                   const Worker<float>&, const SnapshotBoard&, double,
                                   std::uint32_t);
template void save_last_checkpoint(const TrainOptions&, const Objective<double>&,
                                   const Worker<double>&, const SnapshotBoard&, double,
                                   std::uint32_t);

}  // namespace dasgd
