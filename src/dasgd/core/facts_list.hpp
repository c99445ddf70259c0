// What is known of many gradients, in an order, without copies of what another list has.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// Facts of gradients. A list that takes in another one refers to it: a worker that passes a bundle
/// on to several neighbours, each time in another sum, has its facts once. So a list must not be
/// changed once another one has it. Beyond so many lists in lists their facts are copied.
class FactsList {
 public:
  static constexpr std::size_t most_depth = 64;

  void add(GradientFacts facts) {
    if (parts_.empty() || parts_.back().list) parts_.emplace_back();
    ++size_;
    bytes_ += facts.facts_bytes();
    parts_.back().facts.push_back(std::move(facts));
  }
  /// Behind what is here.
  void add(std::shared_ptr<const FactsList> list) {
    if (list->depth_ >= most_depth) return list->for_each([this](const auto& f) { add(f); });
    if (parts_.empty() || parts_.back().list) parts_.emplace_back();
    size_ += list->size_;
    bytes_ += list->bytes_;
    depth_ = std::max(depth_, list->depth_ + 1);
    parts_.back().list = std::move(list);
  }

  std::size_t size() const { return size_; }
  const GradientFacts& front() const {
    const Part& first = parts_.front();
    return first.facts.empty() ? first.list->front() : first.facts.front();
  }
  /// The sum of their `facts_bytes`, however little memory they take here.
  std::size_t bytes() const { return bytes_; }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Part& part : parts_) {
      for (const GradientFacts& facts : part.facts) visit(facts);
      if (part.list) part.list->for_each(visit);
    }
  }

 private:
  /// Facts, and behind them those of another list.
  struct Part {
    std::vector<GradientFacts> facts;
    std::shared_ptr<const FactsList> list;
  };
  std::vector<Part> parts_;
  std::size_t size_ = 0, bytes_ = 0, depth_ = 1;
};

}  // namespace dasgd
