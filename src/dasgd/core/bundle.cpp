#include "dasgd/core/bundle.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace dasgd {
namespace {

[[noreturn]] void refuse(const char* why) { throw std::logic_error(why); }

}  // namespace

Bundle::Bundle(std::vector<GradientFacts> facts, NumberFormat format, std::size_t bytes)
    : facts_(std::move(facts)), format_(format), sums_(bytes) {
  for (const GradientFacts& f : facts_)
    if (!names_.insert(f.name)) refuse("a bundle names a gradient twice");
}

void Bundle::expect_shape(NumberFormat format, std::size_t bytes) {
  if (empty()) {
    format_ = format;
    sums_.assign(bytes, std::byte{0});
  }
  if (format_ != format || sums_.size() != bytes) refuse("a bundle takes updates of one size only");
}

void Bundle::add(std::span<const GradientPtr> gradients) {
  if (gradients.empty()) return;
  for (const GradientPtr& g : gradients)
    if (names_.contains(g->name)) refuse("a gradient was to be added to a bundle that has it");
  for (const GradientPtr& g : gradients) {
    const NumberFormat format = g->update.format();
    expect_shape(format, g->update.bytes().size() / number_bytes(format) * sum_bytes(format));
    if (!names_.insert(g->name)) refuse("a gradient was to be added to a bundle twice");
    facts_.push_back(*g);
  }
  if (format_ == NumberFormat::of_float) {
    add_numbers<float>(gradients);
  } else {
    add_numbers<double>(gradients);
  }
}

template <typename Real>
void Bundle::add_numbers(std::span<const GradientPtr> gradients) {
  std::array<Addend<Real>, max_fused> updates;
  while (!gradients.empty()) {
    const std::size_t count = std::min(gradients.size(), max_fused);
    for (std::size_t k = 0; k < count; ++k)
      updates[k] = {gradients[k]->update.numbers<Real>().data(), gradients[k]->update.shift};
    add_fused<Real>(std::span(updates.data(), count), sums<Real>());
    gradients = gradients.subspan(count);
  }
}

void Bundle::add(const Bundle& other) {
  if (other.empty()) return;
  if (!names_.is_disjoint_from(other.names_)) refuse("bundles that share a name cannot be added");
  expect_shape(other.format_, other.sums_.size());
  for (const GradientFacts& f : other.facts_) {
    names_.insert(f.name);
    facts_.push_back(f);
  }
  if (format_ == NumberFormat::of_float) {
    add_sums<float>(other.sums<float>(), sums<float>());
  } else {
    add_sums<double>(other.sums<double>(), sums<double>());
  }
}

}  // namespace dasgd
