// What can be done to a gradient on its way to an update, one stage each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/update_rule.hpp"

namespace dasgd {

/// One stage of a rule, at one worker. Changes the gradient in place; may remember.
template <typename Real>
class Stage {
 public:
  virtual ~Stage() = default;
  virtual void transform(Replica<Real>& replica, std::span<Real> gradient) = 0;
  /// What the stage remembers, if it does.
  virtual void save(ByteWriter&) const {}
  virtual void load(ByteReader&) {}
  /// The same for whoever does the stage elsewhere; nothing if it does not remember.
  virtual std::optional<DirectionMemory<Real>> memory() const { return std::nullopt; }
  virtual void remember(DirectionMemory<Real>) {}
  /// Distinguishes what one kind of stage saved from what another saved.
  virtual std::string kind() const { return ""; }
};

/// g -> g * min(1, norm / |g|). A gradient that is not finite stays so, for the worker to find.
template <typename Real>
class ClipNorm final : public Stage<Real> {
 public:
  explicit ClipNorm(double norm) : norm_(norm) {}
  void transform(Replica<Real>&, std::span<Real> gradient) override;

 private:
  const double norm_;
};

/// g -> g + lambda x. Before the direction this is L2 regularisation, behind it decoupled decay.
template <typename Real>
class AddDecay final : public Stage<Real> {
 public:
  explicit AddDecay(double lambda) : lambda_(static_cast<Real>(lambda)) {}
  void transform(Replica<Real>& replica, std::span<Real> gradient) override;

 private:
  const Real lambda_;
};

/// v -> mu v + g; the direction is v, or g + mu v with Nesterov's look ahead.
template <typename Real>
class Momentum final : public Stage<Real> {
 public:
  Momentum(double mu, bool nesterov) : mu_(static_cast<Real>(mu)), nesterov_(nesterov) {}
  void transform(Replica<Real>&, std::span<Real> gradient) override;
  void save(ByteWriter& to) const override { to.array(std::span<const Real>(velocity_)); }
  void load(ByteReader& from) override { velocity_ = from.array<Real>(); }
  std::optional<DirectionMemory<Real>> memory() const override { return {{0, velocity_, {}}}; }
  void remember(DirectionMemory<Real> m) override { velocity_ = std::move(m.first); }
  std::string kind() const override { return nesterov_ ? "nesterov" : "momentum"; }

 private:
  const Real mu_;
  const bool nesterov_;
  std::vector<Real> velocity_;
};

/// m and v are the running means of g and g^2 (Kingma and Ba, 2015), corrected for their start at
/// zero; the direction is m / (sqrt(v) + epsilon).
template <typename Real>
class Adam final : public Stage<Real> {
 public:
  Adam(double beta1, double beta2, double epsilon)
      : beta1_(beta1), beta2_(beta2), epsilon_(epsilon) {}
  void transform(Replica<Real>&, std::span<Real> gradient) override;
  void save(ByteWriter& to) const override;
  void load(ByteReader& from) override;
  std::optional<DirectionMemory<Real>> memory() const override { return {{seen_, mean_, square_}}; }
  void remember(DirectionMemory<Real> m) override;
  std::string kind() const override { return "adam"; }

 private:
  const double beta1_, beta2_, epsilon_;
  std::uint64_t seen_ = 0;
  std::vector<Real> mean_, square_;
};

extern template class ClipNorm<float>;
extern template class ClipNorm<double>;
extern template class AddDecay<float>;
extern template class AddDecay<double>;
extern template class Momentum<float>;
extern template class Momentum<double>;
extern template class Adam<float>;
extern template class Adam<double>;

}  // namespace dasgd
