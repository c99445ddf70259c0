// A worker's own updates, newest first, in a few blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dasgd {

/// What is older stands in larger blocks, so that memory does not grow with the window. `Vector`
/// holds numbers, here or on a device.
template <typename Vector>
class RecentUpdates {
 public:
  struct Block {
    std::uint64_t updates = 0;
    Vector sum;
  };

  /// So many blocks for vectors of so many bytes: few large ones, many small ones.
  static std::size_t most_blocks(std::size_t bytes) {
    constexpr std::size_t least = 6, most = 64, budget = std::size_t{1} << 20;
    return std::clamp(budget / std::max<std::size_t>(bytes, 1), least, most);
  }
  explicit RecentUpdates(std::size_t blocks) : most_(blocks) {}

  /// Forgets what is older than `oldest` own updates, and puts one in front that `write(vector)`
  /// writes, into memory that may have been used before. Blocks are joined by `add(to, from)`.
  template <typename Write, typename Add>
  void push(double oldest, Write&& write, Add&& add) {
    // One more than the window: it grows where delays do.
    double age = 1;
    std::size_t kept = 0;
    for (; kept < blocks_.size() && age <= oldest; ++kept)
      age += static_cast<double>(blocks_[kept].updates);
    Block fresh;
    if (kept < blocks_.size()) {
      fresh = std::move(blocks_.back());
      blocks_.resize(kept);
    } else if (blocks_.size() == most_) {
      fresh = fold(add);
    }
    fresh.updates = 1;
    write(fresh.sum);
    blocks_.insert(blocks_.begin(), std::move(fresh));
  }
  void clear() { blocks_.clear(); }

  const std::vector<Block>& blocks() const { return blocks_; }
  /// Calls `visit(weight, sum)` for every block that counts; `weight_of(age, length)`.
  template <typename WeightOf, typename Visit>
  void for_each_weighted(WeightOf&& weight_of, Visit&& visit) const {
    double age = 0;
    for (const Block& block : blocks_) {
      const auto length = static_cast<double>(block.updates);
      if (const double weight = weight_of(age, length); weight > 0) visit(weight, block.sum);
      age += length;
    }
  }

 private:
  // Two neighbours become one: those that are then the smallest for their age.
  template <typename Add>
  Block fold(Add&& add) {
    std::size_t best = 0;
    double age = 1, least = 0;
    for (std::size_t k = 0; k + 1 < blocks_.size(); ++k) {
      const double size = static_cast<double>(blocks_[k].updates + blocks_[k + 1].updates) / age;
      if (k == 0 || size < least) {
        best = k;
        least = size;
      }
      age += static_cast<double>(blocks_[k].updates);
    }
    Block emptied = std::move(blocks_[best + 1]);
    add(blocks_[best].sum, emptied.sum);
    blocks_[best].updates += emptied.updates;
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    return emptied;
  }

  const std::size_t most_;
  std::vector<Block> blocks_;  // newest first
};

}  // namespace dasgd
