// Which samples a worker sees: a pure function of (seed, worker, epoch).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/core/channel.hpp"
#include "dasgd/core/names.hpp"

namespace dasgd {

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
  /// Nothing at the end of an epoch: the order of the next one is drawn when it begins.
  std::optional<std::span<const std::uint32_t>> upcoming() const override;

  /// Batches in one pass over the worker's share; the last one may be smaller.
  std::size_t per_epoch() const;

 private:
  std::span<const std::uint32_t> at_position() const;

  const std::uint64_t seed_;
  const WorkerId worker_;
  std::vector<std::uint32_t> share_;  // as dealt
  std::vector<std::uint32_t> order_;  // this epoch
  std::size_t batch_ = 0;
  std::size_t position_ = 0;
  std::uint32_t epoch_ = 0;
};

}  // namespace dasgd
