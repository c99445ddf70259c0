// How good a network is on a part of the data.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "dasgd/adapters/torch/instance.hpp"
#include "dasgd/core/held_out.hpp"
#include "dasgd/data/moments.hpp"
#include "dasgd/data/samples.hpp"

namespace dasgd::torch_adapter {

/// Rows 0 to count - 1 in pieces of `together`.
std::vector<std::vector<std::uint32_t>> pieces_of(std::size_t count, std::size_t together);

/// An evaluation by several threads. Figures are summed up in the order of the pieces, so they do
/// not depend on which thread evaluated which piece.
class PartEvaluation {
 public:
  /// Of the first `count` rows of `part`.
  PartEvaluation(const Samples& samples, Part part, std::size_t count, std::size_t rows_together,
                 unsigned threads);

  /// Evaluates pieces that no other thread has taken, until none is left.
  void take_pieces(Instance& instance, std::span<const float> x, std::size_t thread);

  /// After all threads are done. Classes have no names yet.
  PartFigures figures() const;

 private:
  double mean(const std::vector<double>& by_piece) const;

  const Samples& samples_;
  const Part part_;
  const std::size_t count_;
  const std::vector<std::vector<std::uint32_t>> pieces_;
  std::atomic<std::size_t> next_{0};
  std::vector<double> losses_, squares_;  // by piece
  std::vector<Moments> targets_;
  std::vector<ClassCounts> counts_;  // by thread
};

}  // namespace dasgd::torch_adapter
