// Updates of few bits: what rounding leaves is kept and goes into the next.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/core/message_format.hpp"

namespace dasgd {

/// Rounds a worker's updates to few bits, with a power of two as unit for every block of numbers.
/// All is integers: the sum of what was sent and the residual are the sum of the full updates,
/// exactly. Owned by one thread.
template <typename Real>
class FewBits {
 public:
  FewBits(MessageFormat format, std::size_t dimension) : residual_(dimension, 0) {
    set_format(format);
  }

  /// Of the updates from now on.
  void set_format(MessageFormat format) {
    format_ = format;
    bits_ = std::min(bits_of(format, number_format<Real>) - 1, FixedPoint<Real>::update_bits);
  }

  /// Makes the update of -eta * gradient and of the residual. Returns the first coordinate that is
  /// not finite or steps too far, if there is one; then nothing has changed.
  std::optional<std::size_t> make(double eta, std::span<const Real> gradient, Update& update);

  /// What is still to be sent, in the units of sums.
  std::span<const Sum<Real>> residual() const { return residual_; }
  /// Its Euclidean norm as a step of the model.
  double residual_norm() const;
  /// Takes over what another worker has still to send.
  void add_residual(std::span<const Sum<Real>> more);

 private:
  MessageFormat format_ = MessageFormat::full;
  int bits_ = 0;  // without the sign
  std::vector<Sum<Real>> residual_;
  std::vector<int> units_;  // of the blocks of one update
};

extern template class FewBits<float>;
extern template class FewBits<double>;

}  // namespace dasgd
