// What leaves: own gradients, those that are relayed, what waits for slow ranks, goodbyes.
#include <limits>
#include <utility>

#include "dasgd/transport/mpi/handle.hpp"
#include "dasgd/transport/mpi/progress/messages.hpp"
#include "dasgd/transport/mpi/progress/progress_thread.hpp"

namespace dasgd::mpi {

bool ProgressThread::send_posted() {
  const bool closed = hub_.take_outbox(load_);
  const bool moved = !load_.empty();
  if (!closing_) {
    for (Outgoing& outgoing : load_) {
      if (auto* direct = std::get_if<Direct>(&outgoing)) {
        say(direct->to_rank, std::move(direct->message));
      } else {
        post(std::get<Relayed>(outgoing));
      }
    }
  }
  load_.clear();
  closing_ = closed;
  return moved;
}

void ProgressThread::post(const Relayed& relayed) {
  if (relayed.from_rank == self_) polling_pauses_.sent(Clock::now());
  hub_.for_each_target(relayed.from_rank, [&](int to) {
    Backlog& backlog = peers_[static_cast<std::size_t>(to)].backlog;
    if (const auto* parcel = std::get_if<Parcel>(&relayed.frame)) {
      backlog.add(*parcel);
    } else {
      say(to, wire::encode(std::get<Announcement>(relayed.frame)));
    }
  });
}

bool ProgressThread::send_backlogs() {
  bool moved = false;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    // What a device still computes is not waited for here, and nothing overtakes it.
    for (;
         !peer.backlog.empty() && peer.backlog.oldest().ready() && peer.parcels_under_way < window_;
         moved = true)
      send(rank, peer.backlog.take_oldest());
  }
  return moved;
}

// Not to a rank that is behind: what it holds is missing here.
bool ProgressThread::lend(int to, const Parcel& parcel) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  if (!parcel.gradient || !shared_->is_seen_by(to) || peer.loans >= shared_->most_loans())
    return false;
  const auto numbers = parcel.numbers();
  const auto slot = shared_->slot_of(numbers);
  if (!slot) return false;
  shared_->lend(*slot, to);
  Bytes message = wire::encode_header(*parcel.gradient, slot);
  hub_.count(parcel.first_name(), message.size() + numbers.size());
  say(to, std::move(message));
  loans_.push_back({parcel.gradient, *slot, to});
  ++peer.loans;
  return true;
}

bool ProgressThread::take_back_loans() {
  return std::erase_if(loans_, [this](const Loan& loan) {
           if (!shared_->is_back(loan.slot, loan.to)) return false;
           --peers_[static_cast<std::size_t>(loan.to)].loans;
           return true;
         }) > 0;
}

void ProgressThread::send(int to, Parcel parcel) {
  if (parcel.bundle) {
    send(to, wire::encode_header(*parcel.bundle), parcel, parcel.numbers());
    return;
  }
  const Update& update = parcel.gradient->update;
  const bool by_device = peers_[static_cast<std::size_t>(to)].by_device && update.on_device();
  if (const auto there = by_device ? update.on_device()->memory() : std::span<std::byte>();
      !there.empty()) {
    send(to, wire::encode_header_on_device(*parcel.gradient), parcel, there);
  } else if (!lend(to, parcel)) {
    send(to, wire::encode_header(*parcel.gradient), parcel, update.bytes());
  }
}

void ProgressThread::send(int to, Bytes message, Parcel parcel,
                          std::span<const std::byte> numbers) {
  Peer& peer = peers_[static_cast<std::size_t>(to)];
  peer.sending.push_back({std::move(message), std::move(parcel), numbers});
  Sending& sending = peer.sending.back();  // stays there until all of it has been sent
  const auto start = [&](std::span<const std::byte> bytes, int length, int tag) {
    constexpr const char* what = "sending to";
    check(MPI_Isend(bytes.data(), length, MPI_BYTE, to, tag, comm_,
                    requests_.add(sending.pending, what, to)),
          what, to);
  };
  if (sending.message.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw MpiError("a message of more than 2 GiB was to be sent to " + name_of_rank(to));
  start(sending.message, static_cast<int>(sending.message.size()), message_tag);
  for_each_piece(numbers.size(), options_.piece_bytes, [&](std::size_t offset, int length) {
    start(numbers.subspan(offset), length, numbers_tag);
  });
  if (!sending.parcel) return;
  ++peer.parcels_under_way;
  hub_.count(sending.parcel.first_name(), sending.message.size() + numbers.size());
}

// To everybody for whom nothing waits any more.
bool ProgressThread::say_goodbye() {
  bool moved = false;
  for (int rank = 0; closing_ && rank < layout_.ranks; ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == self_ || peer.left || !peer.backlog.empty()) continue;
    say(rank, wire::encode(wire::RankGoodbye{}));
    peer.left = moved = true;
  }
  return moved;
}

// MPI sends to one rank in order, so looking at the oldest is enough.
bool ProgressThread::finish_sends() {
  bool moved = false;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    auto& sending = peer.sending;
    while (!sending.empty() && sending.front().pending == 0) {
      if (sending.front().parcel) --peer.parcels_under_way;
      sending.pop_front();
      moved = true;
    }
  }
  return moved;
}

}  // namespace dasgd::mpi
