#include "dasgd/data/draws/label_shares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

// Marsaglia and Tsang (2000); below 1 by the boost of Stuart. As a logarithm: small shapes give
// numbers that no double holds.
double log_gamma_draw(double shape, Random& random) {
  double boost = 0;
  if (shape < 1) {
    boost = std::log1p(-random.uniform()) / shape;
    shape += 1;
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal(), v = 1 + c * x;
    if (v <= 0) continue;
    const double cube = v * v * v;
    if (std::log1p(-random.uniform()) < 0.5 * x * x + d - d * cube + d * std::log(cube))
      return std::log(d * cube) + boost;
  }
}

// What worker i takes of each class, before it meets what is left: numbers that sum to 1.
std::vector<double> class_proportions(const std::vector<double>& prior, double alpha,
                                      Random random) {
  std::vector<double> q;
  for (const double p : prior)
    q.push_back(p > 0 ? log_gamma_draw(alpha * p, random)
                      : -std::numeric_limits<double>::infinity());
  const double most = *std::max_element(q.begin(), q.end());
  double sum = 0;
  for (double& value : q) sum += value = std::exp(value - most);
  for (double& value : q) value /= sum;
  return q;
}

// A class that has samples left, by the proportions; where none of these is left, by what is.
std::size_t draw_class(const std::vector<double>& q,
                       const std::vector<std::vector<std::uint32_t>>& left, Random& random) {
  double all = 0, rest = 0;
  for (std::size_t c = 0; c < q.size(); ++c) {
    all += left[c].empty() ? 0 : q[c];
    rest += static_cast<double>(left[c].size());
  }
  const auto weight = [&](std::size_t c) {
    return left[c].empty() ? 0 : all > 0 ? q[c] : static_cast<double>(left[c].size());
  };
  double at = random.uniform() * (all > 0 ? all : rest);
  std::size_t found = 0;
  for (std::size_t c = 0; c < q.size(); ++c) {
    if (weight(c) == 0) continue;
    found = c;
    if ((at -= weight(c)) < 0) break;
  }
  return found;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> deal_by_label(std::span<const std::uint32_t> labels,
                                                      std::size_t workers, double alpha,
                                                      std::uint64_t seed) {
  const std::size_t samples = labels.size();
  const std::size_t classes =
      samples == 0 ? 0 : *std::max_element(labels.begin(), labels.end()) + std::size_t{1};
  std::vector<std::vector<std::uint32_t>> left(classes);
  for (const std::uint32_t row : permutation(samples, Random(seed, Purpose::shards)))
    left[labels[row]].push_back(row);
  std::vector<double> prior;
  for (const auto& rows : left)
    prior.push_back(static_cast<double>(rows.size()) / static_cast<double>(samples));
  std::vector<std::vector<std::uint32_t>> shares(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    Random random(seed, Purpose::shards, static_cast<std::uint32_t>(i) + 1);
    const auto q = class_proportions(prior, alpha, random);
    const std::size_t size =
        first_of_share(i + 1, workers, samples) - first_of_share(i, workers, samples);
    Random pick(seed, Purpose::shards, static_cast<std::uint32_t>(i) + 1, 1);
    while (shares[i].size() < size) {
      auto& from = left[draw_class(q, left, pick)];
      shares[i].push_back(from.back());
      from.pop_back();
    }
  }
  return shares;
}

}  // namespace dasgd
