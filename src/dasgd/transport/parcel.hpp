// The one thing that travels and waits: a gradient, or many of them as a bundle.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "dasgd/core/bundle.hpp"
#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// A gradient or a bundle, shared and not copied; or nothing.
struct Parcel {
  Parcel() = default;
  Parcel(GradientPtr one) : gradient(std::move(one)) {}  // NOLINT: a gradient is a parcel
  Parcel(BundlePtr many) : bundle(std::move(many)) {}    // NOLINT: so is a bundle

  explicit operator bool() const { return gradient || bundle; }
  /// How many gradients are in it.
  std::size_t size() const { return bundle ? bundle->size() : gradient ? 1 : 0; }
  GradientName first_name() const { return gradient ? gradient->name : bundle->first_name(); }
  /// The numbers of the gradient or the sums of the bundle.
  std::span<const std::byte> numbers() const {
    if (gradient) return gradient->update.bytes();
    return bundle ? bundle->bytes() : std::span<const std::byte>();
  }
  /// Of the numbers, wherever they are.
  std::size_t size_in_bytes() const {
    if (gradient) return gradient->update.size_in_bytes();
    return bundle ? bundle->size_in_bytes() : 0;
  }
  /// Of what is known of its gradients.
  std::size_t facts_bytes() const {
    return bundle ? bundle->facts_bytes() : gradient ? gradient->facts_bytes() : 0;
  }
  /// Whether its numbers are there: whoever asks for them before that waits for a device.
  bool ready() const { return !gradient || gradient->update.ready(); }
  /// Calls `visit(facts)` for every gradient in it, in the order in which they are to be applied.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    if (gradient) visit(static_cast<const GradientFacts&>(*gradient));
    if (bundle) bundle->for_each(visit);
  }

  GradientPtr gradient;
  BundlePtr bundle;
};

}  // namespace dasgd
