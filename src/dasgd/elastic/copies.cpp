#include "dasgd/elastic/copies.hpp"

#include <algorithm>
#include <utility>

namespace dasgd::elastic {

void Copies::add(Model model) {
  if (!models_.empty() && models_.back().names == model.names) return;
  models_.push_back(std::move(model));
  if (models_.size() <= most) return;
  std::size_t closest = 0;
  std::uint64_t between = UINT64_MAX;
  for (std::size_t i = 0; i + 1 < models_.size(); ++i) {
    const std::uint64_t size = models_[i + 1].names.size() - models_[i].names.size();
    if (size < between) closest = i, between = size;
  }
  models_.erase(models_.begin() + static_cast<std::ptrdiff_t>(closest));
}

void Copies::keep_within(const GradientSet& held) {
  std::erase_if(models_, [&](const Model& m) { return m.names.count_missing_from(held) > 0; });
}

void Copies::clear() {
  models_.clear();
  loose_ = {};
}

}  // namespace dasgd::elastic
