#include "dasgd/transport/mpi/progress.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "dasgd/transport/mpi/handle.hpp"

namespace dasgd::mpi {
namespace {

constexpr int message_tag = 0, numbers_tag = 1;
constexpr std::chrono::seconds beat_every{1};
constexpr std::size_t large_message = std::size_t{1} << 20;

int rank_of(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

std::string name(int rank) { return "rank " + std::to_string(rank); }

bool all_complete(std::vector<MPI_Request>& requests, const std::string& what) {
  int complete = 0;
  check(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &complete,
                    MPI_STATUSES_IGNORE),
        what);
  return complete != 0;
}

// Calls `piece(offset, length)` for a whole that MPI cannot count at once.
template <typename Piece>
void for_each_piece(std::size_t total, std::size_t largest, Piece&& piece) {
  for (std::size_t offset = 0; offset < total; offset += largest)
    piece(offset, static_cast<int>(std::min(largest, total - offset)));
}

}  // namespace

Progress::Progress(MPI_Comm comm, const Layout& layout, Hub& hub, const NetworkOptions& options,
                   std::size_t in_flight, bool eager)
    : comm_(comm),
      self_(rank_of(comm)),
      layout_(layout),
      hub_(hub),
      options_(options),
      eager_(eager),
      pool_(GradientPool::create(in_flight * (layout.workers() - layout.per_rank), {},
                                 [&hub](const Gradient& g) { hub.let_go(g); })),
      peers_(static_cast<std::size_t>(layout.ranks)) {}

Progress::~Progress() { pool_->detach(); }

void Progress::run() noexcept {
  try {
    loop();
  } catch (const std::exception& error) {
    if (options_.on_failure) options_.on_failure(error.what());
  }
}

void Progress::loop() {
  while (!done()) {
    bool moved = send_posted();
    moved = probe() || moved;
    for (int rank = 0; rank < layout_.ranks; ++rank) moved = finish_receives(rank) || moved;
    moved = finish_sends() || moved;
    const auto now = Clock::now();
    keep_alive(now);
    idle(moved, now);
  }
}

// --- out ---

bool Progress::send_posted() {
  const bool last =
      hub_.closed() && !said_goodbye_;  // asked first: nothing posted before is missed
  hub_.take_outbox(load_);
  const bool moved = !load_.empty();
  if (!said_goodbye_) {
    for (Outgoing& outgoing : load_) {
      if (auto* direct = std::get_if<Direct>(&outgoing)) {
        say(direct->to_rank, std::move(direct->message));
        continue;
      }
      const auto& relayed = std::get<Relayed>(outgoing);
      const auto* gradient = std::get_if<GradientPtr>(&relayed.frame);
      const auto message = std::make_shared<const Bytes>(
          gradient ? wire::encode_header(**gradient)
                   : wire::encode(std::get<Announcement>(relayed.frame)));
      hub_.for_each_target(relayed.from_rank,
                           [&](int to) { send(to, message, gradient ? *gradient : nullptr); });
    }
  }
  load_.clear();
  if (last) say_goodbye();
  return moved || last;
}

void Progress::send(int to, std::shared_ptr<const Bytes> message, const GradientPtr& gradient) {
  Sending sending{std::move(message), gradient, {}};
  const auto start = [&](std::span<const std::byte> bytes, int length, int tag) {
    check(MPI_Isend(bytes.data(), length, MPI_BYTE, to, tag, comm_,
                    &sending.requests.emplace_back(MPI_REQUEST_NULL)),
          "sending to " + name(to));
  };
  if (sending.message->size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw MpiError("a message of more than 2 GiB was to be sent to " + name(to));
  start(*sending.message, static_cast<int>(sending.message->size()), message_tag);
  if (gradient) {
    const auto numbers = gradient->update.bytes();
    for_each_piece(numbers.size(), options_.piece_bytes, [&](std::size_t offset, int length) {
      start(numbers.subspan(offset), length, numbers_tag);
    });
  }
  peers_[static_cast<std::size_t>(to)].sending.push_back(std::move(sending));
}

void Progress::say(int to, Bytes message) {
  send(to, std::make_shared<const Bytes>(std::move(message)), nullptr);
}

void Progress::say_goodbye() {
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (rank != self_) say(rank, wire::encode(wire::Goodbye{}));
  said_goodbye_ = true;
}

// MPI sends to one rank in order, so looking at the oldest is enough.
bool Progress::finish_sends() {
  bool moved = false;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    auto& sending = peers_[static_cast<std::size_t>(rank)].sending;
    while (!sending.empty() && all_complete(sending.front().requests, "sending to " + name(rank))) {
      sending.pop_front();
      moved = true;
    }
  }
  return moved;
}

// --- in ---

bool Progress::probe() {
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
          "receiving from " + name(from));
    handle(from, message_);
  }
  return true;
}

void Progress::handle(int from, std::span<const std::byte> bytes) {
  wire::Decoded decoded = wire::decode(bytes, layout_.workers());
  if (const auto* refused = std::get_if<wire::Refusal>(&decoded))
    throw MpiError("a message from " + name(from) + " was refused: " + refused->why);
  wire::Message& message = std::get<wire::Message>(decoded);
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  peer.heard = Clock::now();
  if (auto* header = std::get_if<wire::GradientHeader>(&message)) {
    expect(from, std::move(*header));
  } else if (const auto* announcement = std::get_if<Announcement>(&message)) {
    peer.arriving.push_back(std::make_shared<Arrival>());
    peer.arriving.back()->announcement = *announcement;
    post_receives(from);
  } else if (const auto* release = std::get_if<wire::Release>(&message)) {
    if (layout_.rank_of(release->origin) != self_)
      throw MpiError(name(from) + " released a gradient of another rank here");
    hub_.released(from, *release);
  } else if (const auto* note = std::get_if<wire::Note>(&message)) {
    if (options_.on_note) options_.on_note(from, note->bytes);
  } else if (std::holds_alternative<wire::Goodbye>(message)) {
    peer.gone = true;
  }
}

void Progress::expect(int from, wire::GradientHeader header) {
  if (options_.update_bytes && header.numbers_bytes != *options_.update_bytes)
    throw MpiError(name(from) + " sent a gradient of another size than that of the model");
  if (header.gradient.update.shift > options_.largest_shift)
    throw MpiError(name(from) + " sent a gradient with a shift that no update has");
  auto arrival = std::make_shared<Arrival>();
  arrival->numbers_bytes = header.numbers_bytes;
  const GradientName name_of_it = header.gradient.name;
  if (hub_.is_first_copy(name_of_it)) {
    arrival->gradient = pool_->take();
    if (!arrival->gradient)
      throw MpiError(name(from) + " sent more gradients than there is room for");
    Gradient& g = *arrival->gradient;
    g.name = name_of_it;
    g.origin_step = header.gradient.origin_step;
    g.eta = header.gradient.eta;
    g.compute_set = std::move(header.gradient.compute_set);
    g.update.shift = header.gradient.update.shift;
    g.update.resize_bytes(header.numbers_bytes);
    incoming_[name_of_it] = arrival;
  } else if (const auto first = incoming_.find(name_of_it); first != incoming_.end()) {
    arrival->awaited = first->second;
  }
  peers_[static_cast<std::size_t>(from)].arriving.push_back(std::move(arrival));
  post_receives(from);
}

// In the order of the headers. The copies of one peer share a buffer, so one at a time is received.
void Progress::post_receives(int from) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  for (const auto& arrival : peer.arriving) {
    if (arrival->posted) continue;
    const bool copy = !arrival->gradient && !arrival->announcement;
    if (copy && arrival->numbers_bytes > 0) {
      if (peer.unwanted_in_use) return;
      peer.unwanted_in_use = true;
      peer.unwanted.resize(arrival->numbers_bytes);
    }
    receive_numbers(from, *arrival);
  }
}

void Progress::receive_numbers(int from, Arrival& arrival) {
  arrival.posted = true;
  std::span<std::byte> to = peers_[static_cast<std::size_t>(from)].unwanted;
  if (arrival.gradient) to = arrival.gradient->update.bytes();
  for_each_piece(arrival.numbers_bytes, options_.piece_bytes, [&](std::size_t offset, int length) {
    check(MPI_Irecv(to.data() + offset, length, MPI_BYTE, from, numbers_tag, comm_,
                    &arrival.requests.emplace_back(MPI_REQUEST_NULL)),
          "receiving from " + name(from));
  });
}

// Only the oldest arrival of a peer can be delivered. It waits for nothing but numbers that were
// sent before, and for first copies whose headers came before its own: so somebody can always go
// on.
bool Progress::finish_receives(int from) {
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  bool moved = false;
  while (!peer.arriving.empty()) {
    Arrival& oldest = *peer.arriving.front();
    if (!all_complete(oldest.requests, "receiving from " + name(from))) break;
    const bool copy = !oldest.gradient && !oldest.announcement;
    if (copy && !oldest.requests.empty()) {
      oldest.requests.clear();
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

void Progress::deliver(int from, Arrival& arrival) {
  if (arrival.announcement) hub_.arrived(*arrival.announcement, from);
  if (!arrival.gradient) return;
  hub_.arrived(arrival.gradient, from);
  arrival.delivered = true;
  incoming_.erase(arrival.gradient->name);
  arrival.gradient.reset();
}

// --- life and sleep ---

// Rank 0 and everybody else tell each other that they are alive. If this process was itself asleep
// (stopped, swapped out), silence means nothing.
void Progress::keep_alive(Clock::time_point now) {
  const auto since_last = now - std::exchange(last_look_, now);
  if (since_last > beat_every)
    for (Peer& peer : peers_) peer.heard = now;
  if (now < next_beat_) return;
  next_beat_ = now + beat_every;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    if (rank == self_ || (self_ != 0 && rank != 0)) continue;
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (!said_goodbye_) say(rank, wire::encode(wire::Beat{}));
    if (!peer.gone && now - peer.heard > options_.silence)
      throw MpiError(name(rank) + " has not been heard of for " +
                     std::to_string((now - peer.heard) / std::chrono::seconds(1)) +
                     " s: it died or its machine is out of reach");
  }
}

bool Progress::done() const {
  if (!said_goodbye_) return false;
  for (int rank = 0; rank < layout_.ranks; ++rank) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank != self_ && !(peer.gone && peer.sending.empty() && peer.arriving.empty()))
      return false;
  }
  return true;
}

// MPI moves the pieces of a large message only while it is called. What is small is through at
// once, and then waits for the other rank to wake up.
std::chrono::microseconds Progress::longest_nap(std::chrono::microseconds quiet) const {
  using std::chrono::microseconds;
  const auto any = [this](auto&& is) {
    return std::any_of(peers_.begin(), peers_.end(), [&](const Peer& peer) {
      return std::any_of(peer.sending.begin(), peer.sending.end(), is) ||
             std::any_of(peer.arriving.begin(), peer.arriving.end(), is);
    });
  };
  if (eager_ || any([](const auto& message) { return bytes_of(message) > large_message; }))
    return microseconds(50);
  const bool under_way = any([](const auto&) { return true; });
  return under_way ? std::clamp(quiet / 4, microseconds(50), microseconds(500))
                   : std::clamp(quiet / 4, microseconds(500), microseconds(2000));
}

std::size_t Progress::bytes_of(const Sending& sending) {
  return sending.gradient ? sending.gradient->update.bytes().size() : 0;
}
std::size_t Progress::bytes_of(const std::shared_ptr<Arrival>& arrival) {
  return arrival->numbers_bytes;
}

void Progress::idle(bool moved, Clock::time_point now) {
  using std::chrono::microseconds;
  if (moved) {
    moved_at_ = now;
    nap_ = microseconds(0);
    return;
  }
  // Messages that arrive cannot end a sleep, so sleeps begin short and grow while nothing moves.
  const auto quiet = std::chrono::duration_cast<microseconds>(now - moved_at_);
  if (quiet < (eager_ ? microseconds(2000) : microseconds(20))) {
    std::this_thread::yield();
    return;
  }
  nap_ = std::clamp(2 * nap_, microseconds(10), longest_nap(quiet));
  hub_.wait(nap_);
}

}  // namespace dasgd::mpi
