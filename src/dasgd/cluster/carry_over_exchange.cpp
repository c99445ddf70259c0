#include "dasgd/cluster/carry_over_exchange.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace dasgd::cluster {

CarryOverExchange::CarryOverExchange(const mpi::RankLayout& layout, int self, Send send)
    : layout_(layout),
      self_(self),
      send_(std::move(send)),
      arriving_(layout.workers()),
      owed_(static_cast<std::size_t>(layout.ranks)),
      board_(layout.workers(), other_boards()) {}

OtherBoards CarryOverExchange::other_boards() {
  if (self_ == 0) return {.ask = [this] { ask_others(); }};
  return {.give_carry_over = [this](WorkerId worker, const CarryOver& carry_over) {
    send(worker, carry_over);
  }};
}

void CarryOverExchange::ask_others() {
  for (int rank = 1; rank < layout_.ranks; ++rank) {
    {
      const std::lock_guard lock(mutex_);
      std::size_t& owed = owed_[static_cast<std::size_t>(rank)];
      if (owed > 0) continue;
      owed = layout_.per_rank;
    }
    send_(rank, StateRequest{});
  }
}

// In pieces, because a note is limited in size. The last one may be empty.
void CarryOverExchange::send(WorkerId worker, const CarryOver& carry_over) {
  constexpr std::size_t at_once = std::size_t{4} << 20;
  ByteWriter state;
  state.array(std::span<const std::byte>(carry_over.rule));
  state.array(std::span<const std::byte>(carry_over.objective));
  state.array(std::span<const std::byte>(carry_over.residual));
  std::span<const std::byte> left(state.bytes());
  for (bool last = false; !last;) {
    const auto piece = left.first(std::min(at_once, left.size()));
    left = left.subspan(piece.size());
    last = left.empty();
    send_(0, StatePart{worker, {piece.begin(), piece.end()}, last});
  }
}

bool CarryOverExchange::hear(int from, StatePart piece) {
  if (index(piece.worker) >= layout_.workers() || layout_.rank_of(piece.worker) != from)
    return false;
  Bytes& state = arriving_[index(piece.worker)];
  state.insert(state.end(), piece.bytes.begin(), piece.bytes.end());
  if (!piece.last) return true;
  const Bytes whole = std::exchange(state, {});
  ByteReader reader(whole);
  CarryOver carry_over;
  carry_over.rule = reader.array<std::byte>();
  carry_over.objective = reader.array<std::byte>();
  carry_over.residual = reader.array<std::byte>();
  if (!reader.ended_well()) return false;
  board_.give_carry_over(piece.worker, std::move(carry_over));
  const std::lock_guard lock(mutex_);
  std::size_t& owed = owed_[static_cast<std::size_t>(from)];
  owed -= std::min<std::size_t>(owed, 1);  // the last one comes unasked
  return true;
}

}  // namespace dasgd::cluster
