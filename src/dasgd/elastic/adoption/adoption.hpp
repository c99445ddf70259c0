// How a member goes over to another member's model without losing what it has: join, rejoin, lag
// and heal are all this.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/bundle.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/core/replica.hpp"
#include "dasgd/elastic/adoption/log.hpp"

namespace dasgd::elastic {

/// A replica at some moment: x^0 plus the bundle of `names`.
struct Model {
  GradientSet names;
  std::uint64_t samples = 0;
  std::shared_ptr<const Bytes> sums;
};

/// "Take `from`, add and subtract these models and gradients."
/// By construction the result is x^0 plus the bundle of `names`.
struct Adoption {
  Model from;
  bool with_held = false;  ///< what is held now is one of the models to add
  std::vector<Model> plus, minus;
  std::vector<Parcel> add, subtract;
  GradientSet names;
  std::uint64_t samples = 0;
  GradientSet abandoned;  ///< held until now and in nobody's hands any more
  /// Where both sides of a split have gone their own way: how much of each is kept, so that the
  /// result is the weighted mean of the two models and not the sum of their changes.
  struct Mean {
    double own = 1, other = 1;
  };
  std::optional<Mean> mean;
  bool to_remember = false;  ///< copies of the models before and after are wanted

  bool takes_as_it_is() const {
    return !with_held && plus.empty() && minus.empty() && add.empty() && subtract.empty();
  }
};

/// What is held besides `from` is put together from the log and from copies of the own model
/// (ascending). They cut what is held into segments; each must be inside `from`, or outside of it,
/// but for gradients of the log. Nothing if one is neither; with `abandoning` what cannot be kept
/// is given up, by name.
std::optional<Adoption> plan_adoption(const Model& from, const GradientSet& held,
                                      std::uint64_t samples, const Log& log,
                                      std::span<const Model> copies, bool abandoning);

/// The sums of the new model: those of `from`, or else put together in `room`.
template <typename Real>
std::span<const Sum<Real>> carry_out(const Adoption& adoption, std::span<const Sum<Real>> held,
                                     std::vector<Sum<Real>>& room);

/// The sums of a model without these gradients, which are in it.
template <typename Real>
std::vector<Sum<Real>> sums_without(const std::vector<Parcel>& gradients,
                                    std::span<const Sum<Real>> held);

/// A bundle without these gradients, all of which are in it.
Parcel bundle_without(const std::vector<Parcel>& gradients, const Bundle& bundle);

/// -direction of the correction of `Adoption::mean`: from the sums before and after.
template <typename Real>
std::vector<Real> correction(const Adoption& adoption, std::span<const Sum<Real>> before,
                             std::span<const Sum<Real>> after);

}  // namespace dasgd::elastic
