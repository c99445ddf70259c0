// What arrives: messages, and the numbers that follow them.
#include <utility>

#include "dasgd/core/packing.hpp"
#include "dasgd/transport/mpi/handle.hpp"
#include "dasgd/transport/mpi/progress/messages.hpp"
#include "dasgd/transport/mpi/progress/progress_thread.hpp"

namespace dasgd::mpi {

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
  if (const auto* refused = std::get_if<wire::WireRefusal>(&decoded))
    throw MpiError("a message from " + name_of_rank(from) + " was refused: " + refused->why);
  wire::Message& message = std::get<wire::Message>(decoded);
  Peer& peer = peers_[static_cast<std::size_t>(from)];
  life_.hear(from, Clock::now());
  if (auto* header = std::get_if<wire::GradientHeader>(&message)) {
    expect(from, std::move(*header));
  } else if (auto* bundle = std::get_if<wire::BundleHeader>(&message)) {
    expect(from, std::move(*bundle));
  } else if (const auto* receipt = std::get_if<wire::Receipt>(&message)) {
    if (!peer.window.confirm(receipt->parcels))
      throw MpiError(name_of_rank(from) + " confirmed what was not sent");
  } else if (const auto* announcement = std::get_if<Announcement>(&message)) {
    auto arrival = std::make_shared<Arrival>();
    arrival->frame = *announcement;
    enqueue(from, std::move(arrival));
  } else if (auto* note = std::get_if<wire::Note>(&message)) {
    if (options_.on_note) options_.on_note(from, std::move(note->bytes));
  } else if (std::holds_alternative<wire::RankGoodbye>(message)) {
    peer.gone = true;
  }
}

void ProgressThread::expect(int from, wire::GradientHeader header) {
  if (options_.update_bytes && header.numbers_bytes != *options_.update_bytes)
    throw MpiError(name_of_rank(from) + " sent a gradient whose size differs from the model's");
  if (header.gradient.update.shift > options_.largest_shift)
    throw MpiError(name_of_rank(from) + " sent a gradient with an invalid shift");
  auto arrival = std::make_shared<Arrival>();
  auto borrowed = header.slot ? shared_->borrow(from, *header.slot) : nullptr;
  if (header.slot && !borrowed)
    throw MpiError(name_of_rank(from) + " lent a gradient in memory that this rank does not see");
  arrival->on_device = header.on_device;
  arrival->to_confirm = !borrowed;
  if (!borrowed)
    arrival->numbers_bytes = header.packed_bytes.value_or(header.numbers_bytes) +
                             (header.on_device ? sizeof(std::int32_t) : 0);
  if (header.on_device && !peers_[static_cast<std::size_t>(from)].by_device)
    throw MpiError(name_of_rank(from) +
                   " sent numbers of a device, which this rank cannot receive");
  const GradientName name_of_it = header.gradient.name;
  if (hub_.is_first_copy(name_of_it)) {
    auto g = borrowed ? std::move(borrowed) : room(header.on_device ? *pool_there_ : *pool_);
    static_cast<GradientFacts&>(*g) = std::move(header.gradient);
    const NumberFormat format = header.gradient.update.format();
    if (header.on_device) {
      auto there = g->update.on_device();
      arrival->numbers = room_there(there, arrival->numbers_bytes);
      g->update.put(std::move(there), format);
    } else {
      g->update.shift = header.gradient.update.shift;
      g->update.resize_bytes(header.numbers_bytes, format);
      arrival->put(g->update.bytes(), header.packed_bytes);
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
    throw MpiError(name_of_rank(from) + " sent a bundle whose size differs from the model's");
  auto arrival = std::make_shared<Arrival>();
  arrival->to_confirm = true;
  arrival->numbers_bytes = header.packed_bytes.value_or(header.sums_bytes);
  GradientSet names;
  for (const GradientFacts& g : header.facts) names.insert(g.name);
  if (hub_.is_first_copy(names)) {
    const auto packed_bytes = header.packed_bytes;
    const auto bundle = room(std::move(header));
    arrival->put(bundle->bytes(), packed_bytes);
    arrival->frame = BundlePtr(bundle);
  }
  enqueue(from, std::move(arrival));
}

// Workers here that are behind hold the buffers.
std::shared_ptr<Gradient> ProgressThread::room(GradientPool& pool) {
  if (auto gradient = pool.take()) return gradient;
  hub_.fold(std::nullopt);
  return pool.take_beyond();
}

// The same of bundles: workers that are behind would hold ever more of them.
std::shared_ptr<Bundle> ProgressThread::room(wire::BundleHeader header) {
  constexpr std::size_t most = 8;
  if (*bundles_here_ >= most) hub_.fold_bundles();
  auto bundle = std::make_unique<Bundle>(std::move(header.facts), header.format, header.sums_bytes);
  ++*bundles_here_;
  return {bundle.release(), [here = bundles_here_](const Bundle* b) {
            delete b;
            --*here;
          }};
}

// A buffer that was used before stays.
std::span<std::byte> ProgressThread::room_there(std::shared_ptr<DeviceUpdate>& buffer,
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
    if (!oldest.unpack_numbers())
      throw MpiError(name_of_rank(from) + " sent numbers that are not packed as they should be");
    if (oldest.to_confirm) ++peer.arrived;
    deliver(from, oldest);
    peer.arriving.pop_front();
    moved = true;
  }
  return moved;
}

// They come as they lie in memory, or packed.
void ProgressThread::Arrival::put(std::span<std::byte> there,
                                  std::optional<std::uint64_t> packed_bytes) {
  numbers = there;
  if (!packed_bytes) return;
  packed.resize(*packed_bytes);
  numbers = packed;
  unpacked = there;
}

bool ProgressThread::Arrival::unpack_numbers() {
  if (unpacked.empty()) return true;
  const bool of_sums = parcel()->bundle != nullptr;
  const NumberFormat format =
      of_sums ? parcel()->bundle->format() : parcel()->gradient->update.format();
  const bool is_right =
      unpack(packed, of_sums ? sum_bytes(format) : number_bytes(format), unpacked);
  packed = {};
  return is_right;
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

}  // namespace dasgd::mpi
