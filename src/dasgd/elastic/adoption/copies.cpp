#include "dasgd/elastic/adoption/copies.hpp"

#include <algorithm>
#include <utility>

namespace dasgd::elastic {

void Copies::add(Model model) {
  if (!models_.empty() && models_.back().names == model.names) return;
  models_.push_back(std::move(model));
  loose_.emplace_back();
  if (models_.size() <= limit_) return;
  std::size_t closest = 0;
  std::uint64_t between = UINT64_MAX;
  for (std::size_t i = 0; i + 1 < models_.size(); ++i) {
    const std::uint64_t size = models_[i + 1].names.size() - models_[i].names.size();
    if (size < between) closest = i, between = size;
  }
  models_.erase(models_.begin() + static_cast<std::ptrdiff_t>(closest));
  loose_.erase(loose_.begin() + static_cast<std::ptrdiff_t>(closest));
}

void Copies::loosen(const GradientSet& names) { loose_.back().unite(names); }

GradientSet Copies::without_loose(GradientSet names) const {
  for (const GradientSet& loose : loose_)
    if (loose.size() > 0) names = names.without(loose);
  return names;
}

void Copies::keep_within(const GradientSet& held) {
  for (std::size_t i = models_.size(); i-- > 0;) {
    if (models_[i].names.count_missing_from(held) == 0) continue;
    models_.erase(models_.begin() + static_cast<std::ptrdiff_t>(i));
    loose_.erase(loose_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Copies::clear() {
  models_.clear();
  loose_.clear();
}

}  // namespace dasgd::elastic
