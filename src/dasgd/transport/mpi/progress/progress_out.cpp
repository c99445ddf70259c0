// What leaves: own gradients, those that are relayed, what waits for ranks that are behind,
// receipts, goodbyes.
#include <limits>
#include <utility>

#include "dasgd/core/packing.hpp"
#include "dasgd/transport/mpi/handle.hpp"
#include "dasgd/transport/mpi/progress/messages.hpp"
#include "dasgd/transport/mpi/progress/progress_thread.hpp"

namespace dasgd::mpi {

bool ProgressThread::send_posted() {
  const bool closed = hub_.take_outbox(load_);
  bool moved = !load_.empty();
  if (!closing_) {
    for (Outgoing& outgoing : load_) {
      if (auto* direct = std::get_if<Direct>(&outgoing)) {
        say(direct->to_rank, std::move(direct->message));
      } else {
        post(std::move(std::get<Relayed>(outgoing)));
      }
    }
  }
  load_.clear();
  closing_ = closed;
  return send_ready() || moved;
}

// Announcements overtake what waits.
void ProgressThread::post(Relayed relayed) {
  if (relayed.from_rank == self_) polling_pauses_.sent(Clock::now());
  if (const auto* announcement = std::get_if<Announcement>(&relayed.frame)) {
    hub_.for_each_target(relayed.from_rank, [&](int to) { say(to, wire::encode(*announcement)); });
  } else {
    posted_.push_back(std::move(relayed));
  }
}

// What a device still computes is not waited for here, and nothing overtakes it.
bool ProgressThread::send_ready() {
  bool moved = false;
  for (; !posted_.empty() && std::get<Parcel>(posted_.front().frame).ready(); moved = true) {
    const Parcel& parcel = std::get<Parcel>(posted_.front().frame);
    hub_.for_each_target(posted_.front().from_rank, [&](int to) {
      std::visit([&](auto& waiting) { waiting.add(parcel); }, peer_of(to).waiting);
      send_waiting(to);
    });
    posted_.pop_front();
  }
  return moved;
}

bool ProgressThread::send_waiting(int to) {
  Peer& peer = peer_of(to);
  bool moved = false;
  for (; !peer.nothing_waits() && peer.window.is_free(); moved = true)
    send(to, std::visit([](auto& waiting) { return waiting.take(); }, peer.waiting));
  note_bytes(to);
  return moved;
}

bool ProgressThread::send_waiting() {
  bool moved = false;
  for (int rank = 0; rank < layout_.ranks; ++rank) moved = send_waiting(rank) || moved;
  return moved;
}

void ProgressThread::note_bytes(int to) {
  const Peer& peer = peer_of(to);
  const std::size_t waiting =
      std::visit([](const auto& what) { return what.size_in_bytes(); }, peer.waiting);
  auto& most = most_bytes_[static_cast<std::size_t>(to)];
  most = std::max(most.load(), waiting + peer.window.size_in_bytes());
}

// Not to a rank that is behind: what it holds is missing here.
bool ProgressThread::lend(int to, const Parcel& parcel) {
  Peer& peer = peer_of(to);
  if (!shared_->is_seen_by(to) || peer.loans >= shared_->most_loans()) return false;
  const auto numbers = parcel.numbers();
  const auto slot = shared_->slot_of(numbers);
  if (!slot) return false;
  shared_->lend(*slot, to);
  Bytes message = wire::encode_loan(*parcel.gradient, *slot);
  hub_.count(parcel.first_name(), message.size() + numbers.size());
  say(to, std::move(message));
  loans_.push_back({parcel.gradient, *slot, to});
  ++peer.loans;
  return true;
}

bool ProgressThread::take_back_loans() {
  return std::erase_if(loans_, [this](const Loan& loan) {
           if (!shared_->is_back(loan.slot, loan.to)) return false;
           --peer_of(loan.to).loans;
           return true;
         }) > 0;
}

bool ProgressThread::packs_gradients() const {
  return (options_.message == MessageFormat::automatic ? chosen_format_.load()
                                                       : options_.message) != MessageFormat::full;
}

// Own gradients of one worker that a message brings. A small model waits for ranks to look, not for
// links: fewer bits would not help.
void ProgressThread::choose(const Parcel& sent) {
  if (options_.message != MessageFormat::automatic || options_.update_bytes < few_bytes) return;
  std::size_t own = 0;
  sent.for_each([&](const GradientFacts& g) { own += layout_.rank_of(g.name.origin) == self_; });
  if (own == 0) return;
  chooser_.sent((own + layout_.per_rank - 1) / layout_.per_rank, options_.clock());
  chosen_format_ = chooser_.format();
  chosen_when_waited_ = chooser_.waited();
}

// The numbers of a parcel in the bits that they need; nothing where that is not less. What goes to
// several ranks is packed once.
std::shared_ptr<const Bytes> ProgressThread::packed(const Parcel& parcel) {
  const auto smaller = [&](std::size_t bytes) -> std::shared_ptr<const Bytes> {
    auto result = std::make_shared<const Bytes>(pack(parcel.numbers(), bytes));
    return result->size() < parcel.size_in_bytes() ? std::move(result) : nullptr;
  };
  if (parcel.bundle) return smaller(sum_bytes(parcel.bundle->format()));
  if (!packs_gradients()) return nullptr;
  const Gradient& gradient = *parcel.gradient;
  if (packed_name_ != gradient.name) packed_last_ = smaller(number_bytes(gradient.update.format()));
  packed_name_ = gradient.name;
  return packed_last_;
}

void ProgressThread::send(int to, const Parcel& parcel) {
  const GradientPtr& gradient = parcel.gradient;
  if (gradient && gradient->update.on_device() && peer_of(to).by_device)
    if (const auto there = gradient->update.on_device()->memory(); !there.empty())
      return send(to, parcel, wire::encode_header_on_device(*gradient), {there, parcel});
  if (gradient && lend(to, parcel)) return;
  const auto numbers = packed(parcel);
  const auto bytes = numbers ? std::optional<std::uint64_t>(numbers->size()) : std::nullopt;
  send(
      to, parcel,
      gradient ? wire::encode_header(*gradient, bytes) : wire::encode_header(*parcel.bundle, bytes),
      numbers ? Numbers{std::span(*numbers), {}, numbers} : Numbers{parcel.numbers(), parcel});
}

void ProgressThread::send(int to, const Parcel& parcel, Bytes message, Numbers numbers) {
  const std::size_t bytes = message.size() + numbers.bytes.size();
  hub_.count(parcel.first_name(), bytes);
  choose(parcel);
  peer_of(to).window.sent(bytes);
  send(to, std::move(message), std::move(numbers));
}

void ProgressThread::send(int to, Bytes message, Numbers numbers) {
  Peer& peer = peer_of(to);
  peer.sending.push_back({std::move(message), std::move(numbers)});
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
  for_each_piece(sending.numbers.bytes.size(), options_.piece_bytes,
                 [&](std::size_t offset, int length) {
                   start(sending.numbers.bytes.subspan(offset), length, numbers_tag);
                 });
}

bool ProgressThread::send_receipts() {
  bool moved = false;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    Peer& peer = peer_of(rank);
    if (peer.confirmed == peer.arrived) continue;
    peer.confirmed = peer.arrived;
    say(rank, wire::encode(wire::Receipt{peer.arrived}));
    moved = true;
  }
  return moved;
}

// To everybody for whom nothing waits any more and who has all that was sent: no receipt is on its
// way here any more.
bool ProgressThread::say_goodbye() {
  bool moved = false;
  for (int rank = 0; closing_ && posted_.empty() && rank < layout_.ranks; ++rank) {
    Peer& peer = peer_of(rank);
    if (rank == self_ || peer.left || !peer.is_served()) continue;
    say(rank, wire::encode(wire::RankGoodbye{}));
    peer.left = moved = true;
  }
  return moved;
}

// MPI sends to one rank in order, so looking at the oldest is enough.
bool ProgressThread::finish_sends() {
  bool moved = false;
  for (Peer& peer : peers_) {
    auto& sending = peer.sending;
    for (; !sending.empty() && sending.front().pending == 0; moved = true) sending.pop_front();
  }
  return moved;
}

}  // namespace dasgd::mpi
