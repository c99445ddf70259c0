#include "dasgd/transport/mpi/progress/progress_thread.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

#include "dasgd/transport/mpi/progress/messages.hpp"

namespace dasgd::mpi {
namespace {

constexpr std::size_t large_message = std::size_t{1} << 20;
// Under way to a rank: while one message is on its way the next one may be, so that the link does
// not idle; or small ones.
constexpr std::size_t most_parcels = 2;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

}  // namespace

ProgressThread::ProgressThread(MPI_Comm comm, const RankLayout& layout, Hub& hub,
                               const RankMeshOptions& options, std::size_t in_flight, bool eager,
                               const std::vector<bool>& by_device, bool names_come_once,
                               std::shared_ptr<SharedUpdates> shared)
    : comm_(comm),
      self_(rank_of(comm)),
      layout_(layout),
      hub_(hub),
      options_(options),
      pool_(GradientPool::create(in_flight * (layout.workers() - layout.per_rank))),
      pool_there_(GradientPool::create(in_flight)),  // a device has less memory
      shared_(std::move(shared)),
      bundles_here_(std::make_shared<std::atomic<std::size_t>>(0)),
      most_bytes_(static_cast<std::size_t>(layout.ranks)),
      life_(layout.ranks, options.silence, Clock::now()),
      polling_pauses_(eager, Clock::now()) {
  const std::size_t half = std::max<std::size_t>(1, in_flight / 2);
  for (const bool there : by_device) {
    if (names_come_once) {
      peers_.push_back({there, Pending(options.facts), SendWindow(most_parcels, few_bytes)});
    } else {
      peers_.push_back({there, Backlog(half, options.facts), SendWindow(half, 0)});
    }
  }
}

void ProgressThread::run() noexcept {
  try {
    loop();
  } catch (const std::exception& error) {
    if (options_.on_failure) options_.on_failure(error.what());
  }
}

// With its first buffer there this thread is on the device, as MPI wants it, before anything is
// sent.
void ProgressThread::take_device() {
  const auto peer = std::ranges::find(peers_, true, &Peer::by_device);
  if (peer != peers_.end()) peer->unwanted_there = options_.device.make();
}

void ProgressThread::loop() {
  take_device();
  while (!done()) {
    bool moved = send_posted();
    moved = take_back_loans() || moved;
    moved = send_waiting() || moved;
    moved = probe() || moved;
    moved = requests_.poll() || moved;
    for (int rank = 0; rank < layout_.ranks; ++rank) moved = finish_receives(rank) || moved;
    moved = send_receipts() || moved;
    moved = finish_sends() || moved;
    moved = say_goodbye() || moved;
    const auto now = Clock::now();
    keep_alive(now);
    idle(moved, now);
  }
}

// Rank 0 and every other rank exchange heartbeats.
void ProgressThread::keep_alive(Clock::time_point now) {
  if (!life_.is_time(now)) return;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    if (rank == self_ || (self_ != 0 && rank != 0)) continue;
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (!peer.left) say(rank, wire::encode(wire::Beat{}));
    if (!peer.gone) life_.require(rank, now);
  }
}

bool ProgressThread::done() const {
  if (!closing_) return false;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank != self_ && !(peer.left && peer.gone && peer.sending.empty() && peer.arriving.empty()))
      return false;
  }
  return true;
}

UnderWay ProgressThread::under_way() const {
  UnderWay what = UnderWay::nothing;
  const auto look = [&](std::size_t bytes) {
    what = std::max(what, bytes > large_message ? UnderWay::large : UnderWay::small);
  };
  for (const Peer& peer : peers_) {
    for (const Sending& sending : peer.sending) look(sending.numbers.bytes.size());
    if (!peer.window.empty()) look(peer.window.size_in_bytes());
    for (const auto& arrival : peer.arriving) look(arrival->numbers_bytes);
  }
  return what;
}

void ProgressThread::idle(bool moved, Clock::time_point now) {
  if (moved) {
    polling_pauses_.moved(now);
  } else if (!polling_pauses_.pays(now)) {
    std::this_thread::yield();
  } else {
    hub_.wait(polling_pauses_.next(now, under_way()));
  }
}

}  // namespace dasgd::mpi
