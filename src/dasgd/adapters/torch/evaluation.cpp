#include "dasgd/adapters/torch/evaluation.hpp"

#include "dasgd/data/judge_numbers.hpp"

namespace dasgd::torch_adapter {

std::vector<std::vector<std::uint32_t>> pieces_of(std::size_t count, std::size_t together) {
  std::vector<std::vector<std::uint32_t>> result;
  for (std::uint32_t row = 0; row < count; ++row) {
    if (row % together == 0) result.emplace_back();
    result.back().push_back(row);
  }
  return result;
}

PartEvaluation::PartEvaluation(const Samples& samples, Part part, std::size_t count,
                               std::size_t rows_together, unsigned threads)
    : samples_(samples),
      part_(part),
      count_(count),
      pieces_(pieces_of(count, rows_together)),
      losses_(pieces_.size()),
      squares_(pieces_.size()),
      targets_(pieces_.size()),
      counts_(threads) {}

void PartEvaluation::take_pieces(Instance& instance, std::span<const float> x, std::size_t thread) {
  SampleBatch batch;
  for (std::size_t k = next_++; k < pieces_.size(); k = next_++) {
    samples_.gather(part_, pieces_[k], nullptr, batch);
    losses_[k] = instance.evaluate(x, batch, counts_[thread], &squares_[k]);
    for (const float target : batch.values) targets_[k].add(target);
  }
}

double PartEvaluation::mean(const std::vector<double>& by_piece) const {
  double sum = 0;
  for (std::size_t k = 0; k < pieces_.size(); ++k)
    sum += by_piece[k] * static_cast<double>(pieces_[k].size()) / static_cast<double>(count_);
  return sum;
}

PartFigures PartEvaluation::figures() const {
  PartFigures found{.part = std::string(to_string(part_)), .from = samples_.origin(part_)};
  found.samples = count_;
  found.loss = mean(losses_);
  for (const ClassCounts& of_thread : counts_) {
    if (found.counts.classes() == 0) found.counts = ClassCounts(of_thread.classes());
    if (of_thread.classes() > 0) found.counts.add(of_thread);
  }
  Moments all;
  for (const Moments& piece : targets_) all.add(piece);
  if (samples_.format().classes == 0)
    judge_numbers(found, mean(squares_), all, samples_.preprocessing()->target);
  return found;
}

}  // namespace dasgd::torch_adapter
