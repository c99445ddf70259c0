// Ring all-reduce: everybody's vectors are summed up in 2 (n - 1) steps, each of which sends one
// n-th of a vector to the next worker.
#pragma once

#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/rival.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd {

/// One worker's part. What the neighbour sends before this worker has begun waits.
template <typename Real>
class RingSum {
 public:
  RingSum(std::size_t self, std::size_t workers) : self_(self), n_(workers) {}

  /// Both return true when the sum is complete; then `sum` has it.
  bool begin(Port<Real>& port, std::span<const Real> own) {
    values_.assign(own.begin(), own.end());
    step_ = 0;
    active_ = true;
    if (n_ == 1 || port.sum_over_workers(values_)) return finish();
    met_ = port.meet(values_, 0);
    if (met_) return false;
    send(port);
    return take_waiting(port);
  }
  bool received(Port<Real>& port, const RivalMessage<Real>& letter) {
    if (met_) {
      values_ = *letter.numbers;
      return finish();
    }
    waiting_.push_back(letter.numbers);
    return active_ && take_waiting(port);
  }

  std::span<Real> sum() { return values_; }
  std::size_t kept() const { return size_of(values_); }

 private:
  bool finish() {
    active_ = false;
    return true;
  }
  bool take_waiting(Port<Real>& port) {
    while (active_ && !waiting_.empty()) {
      const Shared<Real> chunk = std::move(waiting_.front());
      waiting_.pop_front();
      const auto place = part(chunk_received());
      if (step_ < n_ - 1) {
        add<Real>(place, 1, *chunk);
        port.charge(1.0 / static_cast<double>(n_));
      } else {
        std::copy(chunk->begin(), chunk->end(), place.begin());
      }
      if (++step_ == 2 * (n_ - 1)) return finish();
      send(port);
    }
    return false;
  }
  // First the sums go round, then the finished parts.
  std::size_t chunk_sent() const { return (self_ + 2 * n_ - step_) % n_; }
  std::size_t chunk_received() const { return (self_ + 2 * n_ - step_ - 1) % n_; }
  void send(Port<Real>& port) {
    port.send((self_ + 1) % n_, {share<Real>(part(chunk_sent())), step_});
  }
  std::span<Real> part(std::size_t k) {
    const std::size_t first = k * values_.size() / n_, end = (k + 1) * values_.size() / n_;
    return std::span(values_).subspan(first, end - first);
  }

  const std::size_t self_, n_;
  std::size_t step_ = 0;
  bool active_ = false, met_ = false;
  std::vector<Real> values_;
  std::deque<Shared<Real>> waiting_;
};

}  // namespace dasgd
