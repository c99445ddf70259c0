#include "dasgd/transport/mpi/progress/progress_thread.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "dasgd/transport/mpi/handle.hpp"

namespace dasgd::mpi {
namespace {

constexpr int message_tag = 0, numbers_tag = 1;
constexpr std::size_t large_message = std::size_t{1} << 20;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

std::string name(int rank) { return "rank " + std::to_string(rank); }

// Calls `piece(offset, length)` for a whole that MPI cannot count at once.
template <typename Piece>
void for_each_piece(std::size_t total, std::size_t largest, Piece&& piece) {
  for (std::size_t offset = 0; offset < total; offset += largest)
    piece(offset, static_cast<int>(std::min(largest, total - offset)));
}

}  // namespace

ProgressThread::ProgressThread(MPI_Comm comm, const Layout& layout, Hub& hub,
                               const MeshOptions& options, std::size_t in_flight, bool eager,
                               const std::vector<bool>& by_device,
                               std::shared_ptr<SharedUpdates> shared)
    : comm_(comm),
      self_(rank_of(comm)),
      layout_(layout),
      hub_(hub),
      options_(options),
      window_(std::max<std::size_t>(1, in_flight / 2)),
      pool_(GradientPool::create(in_flight * (layout.workers() - layout.per_rank))),
      pool_there_(GradientPool::create(in_flight)),  // a device has less memory
      shared_(std::move(shared)),
      life_(layout.ranks, options.silence, Clock::now()),
      naps_(eager, Clock::now()) {
  for (const bool there : by_device)
    peers_.emplace_back(std::max<std::size_t>(1, in_flight / 2), there);
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
    moved = send_backlogs() || moved;
    moved = probe() || moved;
    moved = requests_.poll() || moved;
    for (int rank = 0; rank < layout_.ranks; ++rank) moved = finish_receives(rank) || moved;
    moved = finish_sends() || moved;
    moved = say_goodbye() || moved;
    const auto now = Clock::now();
    keep_alive(now);
    idle(moved, now);
  }
}

// --- out ---

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
  if (relayed.from_rank == self_) naps_.sent(Clock::now());
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
  const bool by_device = peers_[static_cast<std::size_t>(to)].by_device && update.elsewhere();
  if (const auto there = by_device ? update.elsewhere()->memory() : std::span<std::byte>();
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
    throw MpiError("a message of more than 2 GiB was to be sent to " + name(to));
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
    say(rank, wire::encode(wire::Goodbye{}));
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

// --- in ---

bool ProgressThread::probe() {
  constexpr int at_most = 64;  // then the rest gets its turn
  for (int count = 0; count < at_most; ++count) {
    int found = 0, length = 0;
    MPI_Message matched = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, message_tag, comm_, &found, &matched, &status),
          "looking for messages");
    if (found == 0) return count > 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    message_.resize(static_cast<std::size_t>(length));
    const int from = status.MPI_SOURCE;
    check(MPI_Mrecv(message_.data(), length, MPI_BYTE, &matched, MPI_STATUS_IGNORE),
          "receiving from", from);
    handle(from, message_);
  }
  return true;
}

void ProgressThread::handle(int from, std::span<const std::byte> bytes) {
  wire::Decoded decoded = wire::decode(bytes, layout_.workers());
  if (const auto* refused = std::get_if<wire::Refusal>(&decoded))
    throw MpiError("a message from " + name(from) + " was refused: " + refused->why);
  wire::Message& message = std::get<wire::Message>(decoded);
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  life_.hear(from, Clock::now());
  if (auto* header = std::get_if<wire::GradientHeader>(&message)) {
    expect(from, std::move(*header));
  } else if (auto* bundle = std::get_if<wire::BundleHeader>(&message)) {
    expect(from, std::move(*bundle));
  } else if (const auto* announcement = std::get_if<Announcement>(&message)) {
    auto arrival = std::make_shared<Arrival>();
    arrival->frame = *announcement;
    enqueue(from, std::move(arrival));
  } else if (auto* note = std::get_if<wire::Note>(&message)) {
    if (options_.on_note) options_.on_note(from, std::move(note->bytes));
  } else if (std::holds_alternative<wire::Goodbye>(message)) {
    peer.gone = true;
  }
}

void ProgressThread::expect(int from, wire::GradientHeader header) {
  if (options_.update_bytes && header.numbers_bytes != *options_.update_bytes)
    throw MpiError(name(from) + " sent a gradient of another size than that of the model");
  if (header.gradient.update.shift > options_.largest_shift)
    throw MpiError(name(from) + " sent a gradient with a shift that no update has");
  auto arrival = std::make_shared<Arrival>();
  auto borrowed = header.slot ? shared_->borrow(from, *header.slot) : nullptr;
  if (header.slot && !borrowed)
    throw MpiError(name(from) + " lent a gradient in memory that is not seen here");
  arrival->on_device = header.on_device;
  if (!borrowed)
    arrival->numbers_bytes = header.numbers_bytes + (header.on_device ? sizeof(std::int32_t) : 0);
  if (header.on_device && !peers_[static_cast<std::size_t>(from)].by_device)
    throw MpiError(name(from) + " sent numbers of a device, which this rank does not take");
  const GradientName name_of_it = header.gradient.name;
  if (hub_.is_first_copy(name_of_it)) {
    auto g = borrowed ? std::move(borrowed) : room(header.on_device ? *pool_there_ : *pool_);
    static_cast<GradientFacts&>(*g) = std::move(header.gradient);
    const NumberFormat format = header.gradient.update.format();
    if (header.on_device) {
      auto there = g->update.elsewhere();
      arrival->numbers = room_there(there, arrival->numbers_bytes);
      g->update.put(std::move(there), format);
    } else {
      g->update.shift = header.gradient.update.shift;
      g->update.resize_bytes(header.numbers_bytes, format);
      arrival->numbers = g->update.bytes();
    }
    arrival->frame = GradientPtr(std::move(g));
    incoming_[name_of_it] = arrival;
  } else if (const auto first = incoming_.find(name_of_it); first != incoming_.end()) {
    arrival->awaited = first->second;
  }
  enqueue(from, std::move(arrival));
}

void ProgressThread::expect(int from, wire::BundleHeader header) {
  const std::size_t dimension = header.sums_bytes / sum_bytes(header.format);
  if (options_.update_bytes && dimension * number_bytes(header.format) != *options_.update_bytes)
    throw MpiError(name(from) + " sent a bundle of another size than that of the model");
  auto arrival = std::make_shared<Arrival>();
  arrival->numbers_bytes = header.sums_bytes;
  GradientSet names;
  for (const GradientFacts& g : header.facts) names.insert(g.name);
  if (hub_.is_first_copy(names)) {
    auto bundle =
        std::make_shared<Bundle>(std::move(header.facts), header.format, header.sums_bytes);
    arrival->numbers = bundle->bytes();
    arrival->frame = BundlePtr(std::move(bundle));
  }
  enqueue(from, std::move(arrival));
}

// Workers here that are behind hold the buffers.
std::shared_ptr<Gradient> ProgressThread::room(GradientPool& pool) {
  if (auto gradient = pool.take()) return gradient;
  hub_.fold(std::nullopt);
  return pool.take_beyond();
}

// A buffer that was used before stays.
std::span<std::byte> ProgressThread::room_there(std::shared_ptr<NumbersElsewhere>& buffer,
                                                std::size_t bytes) {
  if (!buffer) buffer = options_.device.make();
  const auto memory = buffer->memory();
  if (memory.size() != bytes)
    throw MpiError("a gradient of a device has another size than that of the model");
  return memory;
}

void ProgressThread::enqueue(int from, std::shared_ptr<Arrival> arrival) {
  peers_[static_cast<std::size_t>(from)].arriving.push_back(std::move(arrival));
  post_receives(from);
}

// In the order of the headers. The copies of one peer share a buffer, so one at a time is received.
void ProgressThread::post_receives(int from) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  for (const auto& arrival : peer.arriving) {
    if (arrival->posted) continue;
    if (arrival->is_copy() && arrival->numbers_bytes > 0) {
      if (peer.unwanted_in_use) return;
      peer.unwanted_in_use = true;
      if (arrival->on_device) {
        arrival->numbers = room_there(peer.unwanted_there, arrival->numbers_bytes);
      } else {
        peer.unwanted.resize(arrival->numbers_bytes);
        arrival->numbers = peer.unwanted;
      }
    }
    receive_numbers(from, *arrival);
  }
}

void ProgressThread::receive_numbers(int from, Arrival& arrival) {
  arrival.posted = true;
  constexpr const char* what = "receiving from";
  for_each_piece(arrival.numbers_bytes, options_.piece_bytes, [&](std::size_t offset, int length) {
    check(MPI_Irecv(arrival.numbers.data() + offset, length, MPI_BYTE, from, numbers_tag, comm_,
                    requests_.add(arrival.pending, what, from)),
          what, from);
  });
}

// Only the oldest arrival of a peer can be delivered. It waits for nothing but numbers that were
// sent before, and for first copies whose headers came before its own: so somebody can always go
// on.
bool ProgressThread::finish_receives(int from) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  bool moved = false;
  while (!peer.arriving.empty()) {
    Arrival& oldest = *peer.arriving.front();
    if (oldest.pending > 0) break;
    if (oldest.is_copy() && !oldest.numbers.empty()) {
      oldest.numbers = {};
      peer.unwanted_in_use = false;
      post_receives(from);
    }
    if (oldest.awaited && !oldest.awaited->delivered) break;
    deliver(from, oldest);
    peer.arriving.pop_front();
    moved = true;
  }
  return moved;
}

void ProgressThread::deliver(int from, Arrival& arrival) {
  if (arrival.is_copy()) return;
  const Parcel* parcel = arrival.parcel();
  if (parcel && options_.on_gradient) parcel->for_each(options_.on_gradient);
  hub_.arrived(arrival.frame, from);
  if (parcel && parcel->gradient) incoming_.erase(parcel->gradient->name);
  arrival.delivered = true;
  arrival.frame = {};
}

// --- life and sleep ---

// Rank 0 and everybody else tell each other that they are alive.
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
    for (const Sending& sending : peer.sending) look(sending.numbers.size());
    for (const auto& arrival : peer.arriving) look(arrival->numbers_bytes);
  }
  return what;
}

void ProgressThread::idle(bool moved, Clock::time_point now) {
  if (moved) {
    naps_.moved(now);
  } else if (!naps_.pays(now)) {
    std::this_thread::yield();
  } else {
    hub_.wait(naps_.next(now, under_way()));
  }
}

}  // namespace dasgd::mpi
