#include "dasgd/data/draws/position.hpp"

#include <cmath>

namespace dasgd {

DataPosition DataPosition::after(const GradientSet& applied, WorkerId worker) const {
  // The worker draws the batches that are not done yet, in order; its k-th gradient is of the k-th.
  std::vector<std::uint32_t> beyond;
  for (const NameRange& range : applied.exceptions())
    for (std::uint32_t k = range.first; range.origin == worker && k < range.last; ++k)
      beyond.push_back(k);
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
  double all = 0;
  for (const BatchShape& shape : shapes) all += static_cast<double>(shape.share);
  const double passes = all > 0 ? static_cast<double>(samples) / all : 0;
  std::vector<DataPosition> result(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i)
    result[i].next = static_cast<std::uint64_t>(
        std::llround(passes * static_cast<double>(shapes[i].per_pass())));
  return result;
}

}  // namespace dasgd
