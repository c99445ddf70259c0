#include "dasgd/data/position.hpp"

#include <algorithm>

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

std::vector<DataPosition> redistribute(std::span<const DataPosition> positions,
                                       std::size_t workers) {
  std::uint64_t total = 0;
  for (const DataPosition& position : positions) total += position.done();
  std::vector<DataPosition> result(workers);
  for (std::size_t i = 0; i < workers; ++i)
    result[i].next = total / workers + (i < total % workers ? 1 : 0);
  return result;
}

}  // namespace dasgd
