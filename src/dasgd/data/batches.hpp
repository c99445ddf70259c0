// Which samples a worker sees: a pure function of (seed, worker, epoch).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/core/channel.hpp"
#include "dasgd/core/names.hpp"

namespace dasgd {

/// How one worker's share is cut into batches.
struct BatchShape {
  std::size_t share = 0;  ///< samples
  std::size_t batch = 0;  ///< samples per batch; 0: the whole share

  /// Batches in one pass over the share; the last one may be smaller.
  std::size_t per_epoch() const { return batch == 0 ? 1 : (share + batch - 1) / batch; }
  /// Samples in the first `batches` batches.
  std::uint64_t samples_in(std::uint64_t batches) const;
};

/// The shape of worker i's share.
BatchShape batch_shape(WorkerId worker, std::size_t workers, std::size_t samples,
                       std::size_t batch);

/// One worker's endless sequence of mini-batches. The samples are dealt to the workers once, by a
/// permutation drawn from the seed; each worker reshuffles its own share every epoch. Neither time
/// nor other workers can change a draw.
class Batches final : public SampleSource {
 public:
  /// `batch` = 0: every batch is the whole data set, for every worker.
  Batches(std::uint64_t seed, WorkerId worker, std::size_t workers, std::size_t samples,
          std::size_t batch);

  /// Nothing only if the worker's share is empty (fewer samples than workers).
  std::optional<std::span<const std::uint32_t>> next() override;

  /// Goes to the place after the first `batches` batches, as if they had been drawn.
  void seek(std::uint64_t batches);

  std::size_t per_epoch() const { return shape_.per_epoch(); }
  const BatchShape& shape() const { return shape_; }

 private:
  void shuffle(std::uint32_t epoch);

  const std::uint64_t seed_;
  const WorkerId worker_;
  std::vector<std::uint32_t> share_;  // as dealt
  std::vector<std::uint32_t> order_;  // this epoch
  BatchShape shape_;
  std::size_t position_ = 0;
  std::uint32_t epoch_ = 0;
};

}  // namespace dasgd
