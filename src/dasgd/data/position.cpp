#include "dasgd/data/position.hpp"

#include <cmath>

namespace dasgd {

std::uint64_t DataPosition::samples(const BatchShape& shape) const {
  std::uint64_t sum = shape.samples_in(next);
  for (const std::uint64_t batch : ahead)
    sum += shape.samples_in(batch + 1) - shape.samples_in(batch);
  return sum;
}

DataPosition DataPosition::after(const GradientSet& applied, WorkerId worker) const {
  // The worker draws the batches that are not done yet, in order; its k-th gradient is of the k-th.
  std::vector<std::uint32_t> beyond;
  for (const GradientName& name : applied.exceptions())
    if (name.origin == worker) beyond.push_back(name.sequence);
  DataPosition result;
  std::uint64_t batch = next;
  auto skipped = ahead.begin();
  const auto skip = [&] {
    for (; skipped != ahead.end() && *skipped == batch; ++skipped) ++batch;
  };
  const std::uint32_t prefix = applied.prefix(worker);
  if (ahead.empty()) {
    batch += prefix;
  } else {
    for (std::uint32_t k = 0; k < prefix; ++k, ++batch) skip();
  }
  skip();
  result.next = batch;
  std::uint32_t sequence = prefix;
  for (const std::uint32_t made : beyond) {
    for (; sequence < made; ++sequence) {
      ++batch;
      for (; skipped != ahead.end() && *skipped == batch; ++skipped, ++batch)
        result.ahead.push_back(batch);
    }
    result.ahead.push_back(batch);
  }
  result.ahead.insert(result.ahead.end(), skipped, ahead.end());
  return result;
}

std::vector<DataPosition> redistribute(std::uint64_t samples, std::span<const BatchShape> shapes) {
  double epoch = 0;
  for (const BatchShape& shape : shapes) epoch += static_cast<double>(shape.share);
  const double epochs = epoch > 0 ? static_cast<double>(samples) / epoch : 0;
  std::vector<DataPosition> result(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i)
    result[i].next = static_cast<std::uint64_t>(
        std::llround(epochs * static_cast<double>(shapes[i].per_epoch())));
  return result;
}

}  // namespace dasgd
