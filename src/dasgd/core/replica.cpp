#include "dasgd/core/replica.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "dasgd/core/error.hpp"

namespace dasgd {

template <typename Real>
std::vector<Sum<Real>> sums_of(std::span<const Real> x0) {
  std::vector<Sum<Real>> sums(x0.size());
  if (const auto bad = from_real<Real>(x0, sums))
    throw InputError("the starting point has no usable number at coordinate " +
                     std::to_string(*bad));
  return sums;
}

template <typename Real>
HostReplica<Real>::HostReplica(std::span<const Real> x0) : sums_(sums_of(x0)), x_(x0.size()) {}

template <typename Real>
void HostReplica<Real>::restore(std::span<const Sum<Real>> sums) {
  assert(sums.size() == sums_.size());
  std::copy(sums.begin(), sums.end(), sums_.begin());
  x_is_current_ = false;
}

template <typename Real>
std::span<const Real> HostReplica<Real>::x() {
  if (!x_is_current_) to_real<Real>(sums_, x_);
  x_is_current_ = true;
  return x_;
}

template <typename Real>
void HostReplica<Real>::apply(std::span<const GradientPtr> gradients) {
  x_is_current_ = false;
  std::array<Addend<Real>, max_fused> updates;
  while (!gradients.empty()) {
    const std::size_t count = std::min(gradients.size(), max_fused);
    for (std::size_t k = 0; k < count; ++k) {
      const Update& update = gradients[k]->update;
      assert(update.numbers<Real>().size() == sums_.size());
      updates[k] = {update.numbers<Real>().data(), update.shift};
    }
    const auto out_of_range = add_fused<Real>(std::span(updates.data(), count), sums_);
    if (!diverged_at_) diverged_at_ = out_of_range;
    gradients = gradients.subspan(count);
  }
}

template <typename Real>
void HostReplica<Real>::apply(const Bundle& bundle) {
  assert(bundle.dimension() == sums_.size() && bundle.format() == number_format<Real>);
  x_is_current_ = false;
  const auto out_of_range = add_sums<Real>(bundle.sums<Real>(), sums_);
  if (!diverged_at_) diverged_at_ = out_of_range;
}

template <typename Real>
std::optional<std::size_t> HostReplica<Real>::apply_own(double eta, std::span<const Real> gradient,
                                                        Update& update) {
  update.resize<Real>(sums_.size());
  const AddedGradient added = add_gradient<Real>(-eta, gradient, update.numbers<Real>(), sums_, x_);
  if (added.diverged_at) return added.diverged_at;
  update.shift = added.shift;
  x_is_current_ = true;
  if (!diverged_at_) diverged_at_ = added.out_of_range_at;
  return std::nullopt;
}

template std::vector<Sum<float>> sums_of(std::span<const float>);
template std::vector<Sum<double>> sums_of(std::span<const double>);
template class HostReplica<float>;
template class HostReplica<double>;

}  // namespace dasgd
