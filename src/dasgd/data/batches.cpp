#include "dasgd/data/batches.hpp"

#include <algorithm>
#include <numeric>

#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

// Worker i has the samples [cut(i), cut(i + 1)) of the dealt order.
std::size_t cut(std::size_t i, std::size_t workers, std::size_t samples) {
  return i * samples / workers;
}

}  // namespace

std::uint64_t BatchShape::samples_in(std::uint64_t batches) const {
  if (batch == 0) return batches * share;
  if (share == 0) return 0;
  const std::uint64_t epochs = batches / per_epoch(), rest = batches % per_epoch();
  return epochs * share + std::min<std::uint64_t>(rest * batch, share);
}

BatchShape batch_shape(WorkerId worker, std::size_t workers, std::size_t samples,
                       std::size_t batch) {
  if (batch == 0) return {samples, 0};
  return {cut(index(worker) + 1, workers, samples) - cut(index(worker), workers, samples), batch};
}

Batches::Batches(std::uint64_t seed, WorkerId worker, std::size_t workers, std::size_t samples,
                 std::size_t batch)
    : seed_(seed), worker_(worker), shape_(batch_shape(worker, workers, samples, batch)) {
  if (batch == 0) {
    order_.resize(samples);
    std::iota(order_.begin(), order_.end(), 0u);
    return;
  }
  const auto dealt = permutation(samples, Random(seed, Purpose::shards));
  const auto first =
      dealt.begin() + static_cast<std::ptrdiff_t>(cut(index(worker), workers, samples));
  share_.assign(first, first + static_cast<std::ptrdiff_t>(shape_.share));
  position_ = share_.size();
}

std::optional<std::span<const std::uint32_t>> Batches::next() {
  if (shape_.batch == 0) return order_;
  if (share_.empty()) return std::nullopt;
  if (position_ >= share_.size()) shuffle(epoch_);
  const std::size_t size = std::min(shape_.batch, share_.size() - position_);
  const std::span<const std::uint32_t> rows(order_.data() + position_, size);
  position_ += size;
  return rows;
}

void Batches::seek(std::uint64_t batches) {
  if (shape_.batch == 0 || share_.empty()) return;
  epoch_ = static_cast<std::uint32_t>(batches / shape_.per_epoch());
  position_ = share_.size();
  if (const std::uint64_t rest = batches % shape_.per_epoch(); rest > 0) {
    shuffle(epoch_);
    position_ = rest * shape_.batch;
  }
}

// Begins an epoch.
void Batches::shuffle(std::uint32_t epoch) {
  order_ = share_;
  Random(seed_, Purpose::epoch_order, static_cast<std::uint32_t>(worker_), epoch).shuffle(order_);
  position_ = 0;
  epoch_ = epoch + 1;
}

}  // namespace dasgd
