#include "dasgd/core/bundle.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace dasgd {
namespace {

[[noreturn]] void refuse(const char* why) { throw std::logic_error(why); }

}  // namespace

Bundle::Bundle(std::vector<GradientFacts> facts, NumberFormat format, std::size_t bytes)
    : format_(format), size_in_bytes_(bytes), sums_(bytes) {
  for (GradientFacts& f : facts) {
    if (!names_.insert(f.name)) refuse("a bundle names a gradient twice");
    own_facts().add(std::move(f));
  }
}

std::vector<GradientFacts> Bundle::facts() const {
  std::vector<GradientFacts> all;
  all.reserve(size());
  for_each([&](const GradientFacts& f) { all.push_back(f); });
  return all;
}

// A list that another bundle refers to stays as it is.
FactsList& Bundle::own_facts() {
  if (!facts_ || facts_.use_count() > 1) {
    const auto before = std::exchange(facts_, std::make_shared<FactsList>());
    if (before) facts_->add(before);
  }
  return *facts_;
}

void Bundle::expect_shape(NumberFormat format, std::size_t bytes) {
  if (empty()) {
    format_ = format;
    size_in_bytes_ = bytes;
  }
  if (format_ != format || size_in_bytes_ != bytes)
    refuse("a bundle takes updates of one size only");
}

void Bundle::bring_here() const {
  if (!on_device_) return;
  const std::lock_guard lock(on_device_->mutex_);
  if (!sums_.empty()) return;
  sums_.resize(size_in_bytes_);
  on_device_->fetch(sums_);
}

// From now on it is summed up in this machine's memory.
void Bundle::stay_here() {
  bring_here();
  on_device_.reset();
  sums_.resize(size_in_bytes_);
}

void Bundle::add(std::span<const GradientPtr> gradients) {
  if (gradients.empty()) return;
  for (const GradientPtr& g : gradients)
    if (names_.contains(g->name)) refuse("a gradient was to be added to a bundle that has it");
  if (const auto& numbers = gradients.front()->update.on_device(); empty() && numbers)
    on_device_ = numbers->zero_sums();
  for (const GradientPtr& g : gradients) {
    const NumberFormat format = g->update.format();
    expect_shape(format, g->update.size_in_bytes() / number_bytes(format) * sum_bytes(format));
    if (!names_.insert(g->name)) refuse("a gradient was to be added to a bundle twice");
    own_facts().add(*g);
  }
  if (on_device_ && on_device_->add(gradients)) return sums_.clear();
  stay_here();
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
  GradientSet both = names_;
  both.unite(other.names_);
  if (both.size() != names_.size() + other.names_.size())
    refuse("bundles that share a name cannot be added");
  if (empty() && other.on_device_) on_device_ = other.on_device_->zero_sums();
  expect_shape(other.format_, other.size_in_bytes_);
  names_ = std::move(both);
  own_facts().add(other.facts_);
  if (on_device_ && other.on_device_ && on_device_->add(*other.on_device_)) return sums_.clear();
  stay_here();
  if (format_ == NumberFormat::of_float) {
    add_sums<float>(other.sums<float>(), sums<float>());
  } else {
    add_sums<double>(other.sums<double>(), sums<double>());
  }
}

}  // namespace dasgd
