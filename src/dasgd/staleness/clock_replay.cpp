#include "dasgd/staleness/clock_replay.hpp"

#include <algorithm>

namespace dasgd {
namespace {

/// Sums of what was added to ranges of numbers.
class RangeSums {
 public:
  explicit RangeSums(std::size_t size) : change_(size + 1, 0) {}

  void add(std::size_t from, std::size_t to, std::uint64_t amount) {
    change_[from] += amount;
    change_[to] -= amount;  // wraps, and back again
  }
  std::uint64_t largest() const {
    std::uint64_t sum = 0, largest = 0;
    for (const std::uint64_t change : change_) largest = std::max(largest, sum += change);
    return largest;
  }

 private:
  std::vector<std::uint64_t> change_;
};

}  // namespace

ClockReplay::ClockReplay(const TraceIndex& index)
    : index_(&index), clocks_(index.gradients() * index.workers()) {}

std::optional<ClockReplay> ClockReplay::of(const TraceIndex& index) {
  ClockReplay replay(index);
  if (!replay.read_clocks()) return std::nullopt;
  return replay;
}

bool ClockReplay::read_clocks() {
  const std::size_t n = index_->workers();
  std::vector<std::uint32_t> G;
  for (std::size_t i = 0; i < n; ++i) {
    G.assign(n, 0);
    for (const TraceIndex::Number g : index_->order(i)) {
      const std::size_t j = index_->origin(g);
      if (index_->number(j, G[j]) != g) return false;
      if (i == j) std::ranges::copy(G, clocks_.begin() + static_cast<std::ptrdiff_t>(g * n));
      ++G[j];
    }
  }
  return true;
}

ReplayedWorker ClockReplay::worker(std::size_t i) const {
  const std::size_t n = index_->workers();
  ReplayedWorker result;
  std::vector<std::uint32_t> G(n, 0);
  RangeSums weights(index_->gradients());
  for (const TraceIndex::Number g : index_->order(i)) {
    const std::size_t j = index_->origin(g);
    const Clock D = this->D(j, G[j]);
    std::uint64_t absent = 0, missing = 0;
    for (std::size_t k = 0; k < n; ++k) {
      absent += G[k] > D[k] ? G[k] - D[k] : 0;
      missing += D[k] > G[k] ? D[k] - G[k] : 0;
    }
    const std::uint64_t S = absent + missing;
    for (std::size_t k = 0; S > 0 && k < n; ++k) {
      const std::size_t first = index_->number(k, 0);
      if (G[k] != D[k]) weights.add(first + std::min(G[k], D[k]), first + std::max(G[k], D[k]), S);
    }
    result.S.push_back(S);
    result.S_hat.push_back(missing == 0 ? S : loose(G, D));
    result.noncausal += missing == 0 ? 0 : 1;
    ++G[j];
  }
  result.W = weights.largest();
  return result;
}

// C is what is missing, and what that misses in turn: of each origin a range of numbers that begins
// where G ends. What is absent from any member of C is absent from the intersection of their D.
std::uint64_t ClockReplay::loose(Clock G, Clock D_of_g) const {
  const std::size_t n = G.size();
  std::vector<std::uint32_t> end(D_of_g.begin(), D_of_g.end());
  std::vector<std::uint32_t> common(D_of_g.begin(), D_of_g.end());
  std::vector<std::uint32_t> followed(G.begin(), G.end());
  for (bool grows = true; grows;) {
    grows = false;
    for (std::size_t k = 0; k < n; ++k) {
      if (end[k] <= followed[k]) continue;
      grows = true;
      if (followed[k] == G[k]) {
        const Clock first = D(k, G[k]);
        for (std::size_t m = 0; m < n; ++m) common[m] = std::min(common[m], first[m]);
      }
      followed[k] = end[k];
      const Clock last = D(k, end[k] - 1);
      for (std::size_t m = 0; m < n; ++m) end[m] = std::max(end[m], last[m]);
    }
  }
  std::uint64_t size = 0;
  for (std::size_t k = 0; k < n; ++k) {
    size += end[k] > G[k] ? end[k] - G[k] : 0;
    size += G[k] > common[k] ? G[k] - common[k] : 0;
  }
  return size;
}

}  // namespace dasgd
