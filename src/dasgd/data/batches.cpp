#include "dasgd/data/batches.hpp"

#include <algorithm>
#include <numeric>

#include "dasgd/random/random.hpp"

namespace dasgd {

Batches::Batches(std::uint64_t seed, WorkerId worker, std::size_t workers, std::size_t samples,
                 std::size_t batch)
    : seed_(seed), worker_(worker) {
  if (batch == 0) {
    order_.resize(samples);
    std::iota(order_.begin(), order_.end(), 0u);
    return;
  }
  const auto dealt = permutation(samples, Random(seed, Purpose::shards));
  const auto cut = [&](std::size_t i) {
    return dealt.begin() + static_cast<std::ptrdiff_t>(i * samples / workers);
  };
  share_.assign(cut(index(worker)), cut(index(worker) + 1));
  batch_ = batch;
  position_ = share_.size();
}

std::optional<std::span<const std::uint32_t>> Batches::next() {
  if (batch_ == 0) return order_;
  if (share_.empty()) return std::nullopt;
  if (position_ >= share_.size()) {
    order_ = share_;
    Random(seed_, Purpose::epoch_order, static_cast<std::uint32_t>(worker_), epoch_++)
        .shuffle(order_);
    position_ = 0;
  }
  const auto rows = at_position();
  position_ += rows.size();
  return rows;
}

std::optional<std::span<const std::uint32_t>> Batches::upcoming() const {
  if (batch_ == 0 || position_ >= order_.size()) return std::nullopt;
  return at_position();
}

std::span<const std::uint32_t> Batches::at_position() const {
  return std::span(order_).subspan(position_, std::min(batch_, order_.size() - position_));
}

std::size_t Batches::per_epoch() const {
  return batch_ == 0 ? 1 : (share_.size() + batch_ - 1) / batch_;
}

}  // namespace dasgd
