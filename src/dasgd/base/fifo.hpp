// First in, first out, in one piece of memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace dasgd {

/// A queue that takes no memory for what comes and goes: what was taken from the front leaves room
/// that is used again, in constant time per item.
template <typename Item>
class Fifo {
 public:
  bool empty() const { return first_ == items_.size(); }
  std::size_t size() const { return items_.size() - first_; }
  Item& front() { return items_[first_]; }
  const Item& front() const { return items_[first_]; }
  const Item& back() const { return items_.back(); }
  auto begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() const { return items_.end(); }

  void push_back(Item item) { items_.push_back(std::move(item)); }
  Item pop_front() {
    Item item = std::move(front());
    drop_front();
    return item;
  }
  /// The first one, which may have been moved from, is gone; its memory is used again later.
  void drop_front() {
    ++first_;
    if (first_ == items_.size()) {
      items_.clear();
      first_ = 0;
    } else if (first_ >= 64 && 2 * first_ >= items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }

 private:
  std::vector<Item> items_;
  std::size_t first_ = 0;  // those before it were taken
};

}  // namespace dasgd
