#include "dasgd/core/replica.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "dasgd/core/error.hpp"

namespace dasgd {

template <typename Real>
Replica<Real>::Replica(std::span<const Real> x0) : sums_(x0.size()), x_(x0.size()) {
  if (const auto bad = from_real<Real>(x0, sums_))
    throw InputError("the starting point has no usable number at coordinate " +
                     std::to_string(*bad));
}

template <typename Real>
std::span<const Real> Replica<Real>::x() {
  if (!x_is_current_) to_real<Real>(sums_, x_);
  x_is_current_ = true;
  return x_;
}

template <typename Real>
void Replica<Real>::apply(std::span<const GradientPtr> gradients) {
  std::array<Addend<Real>, max_fused> updates;
  while (!gradients.empty()) {
    const std::size_t count = std::min(gradients.size(), max_fused);
    for (std::size_t k = 0; k < count; ++k) {
      const Update& update = gradients[k]->update;
      assert(update.numbers<Real>().size() == sums_.size());
      updates[k] = {update.numbers<Real>().data(), update.shift};
    }
    add({updates.data(), count});
    gradients = gradients.subspan(count);
  }
}

template <typename Real>
void Replica<Real>::apply(const Update& update) {
  const Addend<Real> addend{update.numbers<Real>().data(), update.shift};
  add({&addend, 1});
}

template <typename Real>
void Replica<Real>::add(std::span<const Addend<Real>> updates) {
  x_is_current_ = false;
  const auto out_of_range = add_fused<Real>(updates, sums_);
  if (!diverged_at_) diverged_at_ = out_of_range;
}

template class Replica<float>;
template class Replica<double>;

}  // namespace dasgd
