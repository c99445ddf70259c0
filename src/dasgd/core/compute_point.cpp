#include "dasgd/core/compute_point.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace dasgd {
namespace {

// Added to y part by part, so that x and y stay in the cache meanwhile.
constexpr std::size_t part = 4096;

template <typename Real>
double product(std::span<const Real> a, std::span<const Real> b) {
  std::array<double, 8> sums{};  // side by side: none waits for another
  std::size_t i = 0;
  for (; i + sums.size() <= a.size(); i += sums.size())
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += static_cast<double>(a[i + k] * b[i + k]);
  for (; i < a.size(); ++i) sums[i % sums.size()] += static_cast<double>(a[i] * b[i]);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

template <typename Real>
double relative_distance(std::span<const Real> x, std::span<const Real> y) {
  double moved = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    moved += static_cast<double>((y[i] - x[i]) * (y[i] - x[i]));
  const double norm = product(x, x);
  return norm > 0 ? std::sqrt(moved / norm) : 0;
}

}  // namespace

template <typename Real>
std::span<const Real> ComputePoint<Real>::y() {
  last_y_ = plan_.is_off() ? replica_.x() : ahead_of(replica_.x());
  return last_y_;
}

template <typename Real>
std::span<const Real> ComputePoint<Real>::ahead_of(std::span<const Real> x) {
  plan_.begin();
  std::vector<std::pair<Real, const Real*>> terms;
  recent_.for_each_weighted([&](double age, double length) { return plan_.weight(age, length); },
                            [&](double weight, const auto& sum) {
                              terms.emplace_back(static_cast<Real>(weight), sum.data());
                            });
  const auto pull = static_cast<Real>(plan_.pull());
  const bool continues = continues_ && pull < 1;
  continues_ = pull < 1 && !terms.empty();
  if (terms.empty()) {
    if (plan_.measures_gap()) plan_.moved(0);
    return x;
  }
  y_.resize(x.size());
  target_.resize(part);
  for (std::size_t first = 0; first < x.size(); first += part) {
    const std::size_t last = std::min(x.size(), first + part);
    Real* const to = continues ? target_.data() : y_.data() + first;
    std::copy(x.begin() + first, x.begin() + last, to);
    for (const auto& [weight, sum] : terms)
      for (std::size_t i = first; i < last; ++i) to[i - first] += weight * sum[i];
    if (!continues) continue;
    for (std::size_t i = first; i < last; ++i) y_[i] += pull * (to[i - first] - y_[i]);
  }
  if (plan_.measures_gap()) plan_.moved(relative_distance<Real>(x, y_));
  return y_;
}

template <typename Real>
void ComputePoint<Real>::made(double eta, std::span<const Real> direction) {
  if (!plan_.is_off()) {
    if (plan_.compares()) compare(direction);
    const auto write = [&](std::vector<Real>& update) {
      update.resize(direction.size());
      const Real factor = static_cast<Real>(-eta);
      for (std::size_t i = 0; i < direction.size(); ++i) update[i] = factor * direction[i];
    };
    const auto add = [](std::vector<Real>& to, const std::vector<Real>& from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    };
    recent_.push(plan_.oldest(), write, add);
    if (continues_) {
      const auto weight = static_cast<Real>(1 + plan_.weight(0, 1));
      const std::vector<Real>& own = recent_.blocks().front().sum;
      for (std::size_t i = 0; i < own.size(); ++i) y_[i] += weight * own[i];
    }
  }
  plan_.made();
}

template <typename Real>
void ComputePoint<Real>::compare(std::span<const Real> direction) {
  const std::span<const Real> before = compared_;
  const double square = product(direction, direction);
  if (before.size() == direction.size())
    plan_.signal().add(product(before, direction), (compared_square_ + square) / 2);
  compared_.assign(direction.begin(), direction.end());
  compared_square_ = square;
}

template class ComputePoint<float>;
template class ComputePoint<double>;

}  // namespace dasgd
