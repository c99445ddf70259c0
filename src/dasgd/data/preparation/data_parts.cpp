#include "dasgd/data/preparation/data_parts.hpp"

#include <algorithm>
#include <cmath>

#include "dasgd/core/error.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

void hold_out(DataParts& parts, double share, std::uint64_t seed) {
  DataPart& train = parts[Part::train];
  const std::size_t count = train.count();
  const auto held = static_cast<std::size_t>(std::llround(share * static_cast<double>(count)));
  if (held == 0 || held >= count)
    throw InputError(train.data->path + ": " + std::to_string(count) +
                     " rows cannot be split by `validation` " + plain_number(share));
  std::vector<std::uint32_t> order = permutation(count, Random(seed, Purpose::validation));
  const auto cut = order.begin() + static_cast<std::ptrdiff_t>(held);
  // Ascending, so that a pass over a part goes through its file from front to end.
  std::sort(order.begin(), cut);
  std::sort(cut, order.end());
  DataPart& validation = parts[Part::validation];
  validation = train;
  validation.from = plain_number(share) + " of " + train.data->path + ", drawn by the seed";
  validation.rows.emplace(order.begin(), cut);
  train.rows.emplace(cut, order.end());
}

}  // namespace dasgd
