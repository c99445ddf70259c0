#include "dasgd/rules/stages.hpp"

#include <cmath>

namespace dasgd {

template <typename Real>
void ClipNorm<Real>::transform(Replica<Real>&, std::span<Real> gradient) {
  double squares = 0;
  for (const Real g : gradient) squares += static_cast<double>(g) * static_cast<double>(g);
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm) || norm <= norm_) return;
  const Real scale = static_cast<Real>(norm_ / norm);
  for (Real& g : gradient) g *= scale;
}

template <typename Real>
void AddDecay<Real>::transform(Replica<Real>& replica, std::span<Real> gradient) {
  const std::span<const Real> x = replica.x();
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += lambda_ * x[i];
}

template <typename Real>
void Momentum<Real>::transform(Replica<Real>&, std::span<Real> gradient) {
  velocity_.resize(gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    velocity_[i] = mu_ * velocity_[i] + gradient[i];
    gradient[i] = nesterov_ ? gradient[i] + mu_ * velocity_[i] : velocity_[i];
  }
}

template <typename Real>
void Adam<Real>::transform(Replica<Real>&, std::span<Real> gradient) {
  mean_.resize(gradient.size());
  square_.resize(gradient.size());
  ++seen_;
  const auto count = static_cast<double>(seen_);
  const auto of_mean = static_cast<Real>(1 / (1 - std::pow(beta1_, count)));
  const auto of_square = static_cast<Real>(1 / (1 - std::pow(beta2_, count)));
  const auto b1 = static_cast<Real>(beta1_), b2 = static_cast<Real>(beta2_);
  const auto rest1 = static_cast<Real>(1 - beta1_), rest2 = static_cast<Real>(1 - beta2_);
  const auto epsilon = static_cast<Real>(epsilon_);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const Real g = gradient[i];
    mean_[i] = b1 * mean_[i] + rest1 * g;
    square_[i] = b2 * square_[i] + rest2 * g * g;
    gradient[i] = of_mean * mean_[i] / (std::sqrt(of_square * square_[i]) + epsilon);
  }
}

template <typename Real>
void Adam<Real>::save(ByteWriter& to) const {
  to.number(seen_);
  to.array(std::span<const Real>(mean_));
  to.array(std::span<const Real>(square_));
}

template <typename Real>
void Adam<Real>::load(ByteReader& from) {
  seen_ = from.number<std::uint64_t>();
  mean_ = from.array<Real>();
  square_ = from.array<Real>();
}

template <typename Real>
void Adam<Real>::remember(DirectionMemory<Real> m) {
  seen_ = m.seen;
  mean_ = std::move(m.first);
  square_ = std::move(m.second);
}

template class ClipNorm<float>;
template class ClipNorm<double>;
template class AddDecay<float>;
template class AddDecay<double>;
template class Momentum<float>;
template class Momentum<double>;
template class Adam<float>;
template class Adam<double>;

}  // namespace dasgd
