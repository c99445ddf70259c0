#include "dasgd/lab/ranks/rank_transport.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <stdexcept>
#include <thread>

#include "dasgd/lab/ranks/packed_message.hpp"

namespace dasgd {
namespace {

enum Tag : int { a_letter = 1, ask_end = 2, the_end = 3 };

}  // namespace

template <typename Real>
RankTransport<Real>::RankTransport(mpi::Communicator& ranks, std::size_t workers, bool sums,
                                   std::function<void(const std::string&)> fatal)
    : ranks_(ranks),
      workers_(workers),
      sums_(sums && workers == static_cast<std::size_t>(ranks.size())),
      fatal_(std::move(fatal)),
      messenger_(ranks) {}

template <typename Real>
int RankTransport<Real>::rank_of(std::size_t participant) const {
  if (participant >= workers_) return 0;
  return static_cast<int>(participant * static_cast<std::size_t>(ranks_.size()) / workers_);
}

template <typename Real>
bool RankTransport<Real>::is_here(std::size_t participant) const {
  return rank_of(participant) == ranks_.rank();
}

template <typename Real>
void RankTransport<Real>::carry(std::size_t to, RivalMessage<Real> letter) {
  auto bytes = packed(to, letter);
  const std::lock_guard lock(mutex_);
  outgoing_.emplace_back(rank_of(to), std::move(bytes));
}

template <typename Real>
bool RankTransport<Real>::sum_over_workers(std::span<Real> values) {
  if (!sums_) return false;
  std::unique_lock lock(mutex_);
  if (ended_) return true;
  to_sum_ = values;
  summed_.wait(lock, [this] { return !to_sum_; });
  return true;
}

template <typename Real>
void RankTransport<Real>::ask_for_the_end() {
  const std::lock_guard lock(mutex_);
  wants_end_ = true;
}

template <typename Real>
void RankTransport<Real>::abandon(std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    fatal_(error.what());
  } catch (...) {
    fatal_("a participant failed");
  }
  ranks_.abort(1);
}

template <typename Real>
void RankTransport<Real>::run(RealArena<Real>& arena) {
  arena_ = &arena;
  while (true) {
    bool moved = send_what_waits();
    // Whoever takes one at a time falls behind on a busy machine, and hears of the end too late.
    for (int taken = 0; taken < 1000 && receive(); ++taken) moved = true;
    moved = (sums_ ? sum() : announce_end()) || moved;
    if (has_ended() && messenger_.has_ended_everywhere()) return;
    if (!moved) std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

template <typename Real>
bool RankTransport<Real>::has_ended() {
  const std::lock_guard lock(mutex_);
  return ended_;
}

// What is written after the end is of no interest.
template <typename Real>
bool RankTransport<Real>::send_what_waits() {
  decltype(outgoing_) waiting;
  {
    const std::lock_guard lock(mutex_);
    std::swap(waiting, outgoing_);
    if (ended_) waiting.clear();
  }
  for (auto& [rank, bytes] : waiting) messenger_.send(rank, a_letter, std::move(bytes));
  return messenger_.test() || !waiting.empty();
}

template <typename Real>
bool RankTransport<Real>::receive() {
  const auto message = messenger_.receive();
  if (!message) return false;
  if (message->tag == ask_end) ask_for_the_end();
  if (message->tag == the_end) end();
  if (message->tag == a_letter) {
    auto letter = unpacked<Real>(message->bytes, arena_->participants());
    if (!letter || !is_here(letter->first))
      throw std::runtime_error(fmt::format("rank {} sent a malformed message", message->rank));
    arena_->deliver(letter->first, std::move(letter->second));
  }
  return true;
}

// Everybody learns of a wish to end from one and the same sum.
template <typename Real>
bool RankTransport<Real>::sum() {
  if (!summing_) {
    const std::lock_guard lock(mutex_);
    if (!to_sum_) return false;
    sums_under_way_.assign(to_sum_->begin(), to_sum_->end());
    sums_under_way_.push_back(wants_end_ ? Real{1} : Real{0});
    messenger_.begin_sum(sums_under_way_);
    return summing_ = true;
  }
  if (!messenger_.sum_is_complete()) return false;
  summing_ = false;
  if (sums_under_way_.back() > Real{0}) end();
  {
    const std::lock_guard lock(mutex_);
    std::copy(sums_under_way_.begin(), sums_under_way_.end() - 1, to_sum_->begin());
    to_sum_.reset();
  }
  summed_.notify_all();
  return true;
}

template <typename Real>
bool RankTransport<Real>::announce_end() {
  {
    const std::lock_guard lock(mutex_);
    if (!wants_end_ || end_announced_) return false;
  }
  end_announced_ = true;
  if (ranks_.rank() != 0) {
    messenger_.send(0, ask_end, {});
    return true;
  }
  for (int rank = 1; rank < ranks_.size(); ++rank) messenger_.send(rank, the_end, {});
  end();
  return true;
}

template <typename Real>
void RankTransport<Real>::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  arena_->end();
}

template class RankTransport<float>;
template class RankTransport<double>;

}  // namespace dasgd
