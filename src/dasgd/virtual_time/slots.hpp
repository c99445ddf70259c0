// Things that wait in virtual time, known by a number meanwhile.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace dasgd {

/// Keeps things by number until they are taken; numbers are used again.
template <typename Item>
class Slots {
 public:
  std::uint32_t put(Item item) {
    if (free_.empty()) {
      items_.push_back(std::move(item));
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    items_[number] = std::move(item);
    return number;
  }
  Item take(std::uint32_t number) {
    free_.push_back(number);
    return std::exchange(items_[number], {});
  }

 private:
  std::vector<Item> items_;
  std::vector<std::uint32_t> free_;
};

}  // namespace dasgd
