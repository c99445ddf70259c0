// Ring all-gather: everybody's letters reach everybody in n - 1 steps, each of which passes one on
// to the next worker.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "dasgd/lab/rivals/rival.hpp"
#include "dasgd/lab/rivals/vectors.hpp"

namespace dasgd {

/// One worker's part. What the neighbour sends before this worker has begun waits.
template <typename Real>
class RingGather {
 public:
  RingGather(std::size_t self, std::size_t workers) : self_(self), all_(workers) {}

  /// Both return true when all letters are here; then `sum` has their sum. The version of a letter
  /// says whose it is.
  bool begin(Port<Real>& port, RivalMessage<Real> own) {
    met_ = all_.size() > 1 && port.meet(*own.numbers, own.share);
    if (met_) return false;
    own.version = self_;
    here_ = 0;
    active_ = true;
    return take(port, own) || take_waiting(port);
  }
  bool received(Port<Real>& port, const RivalMessage<Real>& letter) {
    if (met_) {
      sum_ = *letter.numbers;
      return true;
    }
    waiting_.push_back(letter);
    return active_ && take_waiting(port);
  }

  std::span<const Real> sum() const { return sum_; }
  /// As they came over the wire.
  std::size_t kept() const {
    std::size_t bytes = 0;
    for (const RivalMessage<Real>& letter : all_) bytes += letter.bytes();
    return bytes;
  }

 private:
  bool take_waiting(Port<Real>& port) {
    while (active_ && !waiting_.empty()) {
      const RivalMessage<Real> letter = std::move(waiting_.front());
      waiting_.pop_front();
      if (take(port, letter)) return true;
    }
    return false;
  }
  // The last one has been everywhere.
  bool take(Port<Real>& port, const RivalMessage<Real>& letter) {
    all_[letter.version] = letter;
    active_ = ++here_ < all_.size();
    if (active_)
      port.send((self_ + 1) % all_.size(), letter);
    else
      add_up();
    return !active_;
  }
  // In order of workers, so that everybody has the same sum.
  void add_up() {
    sum_.assign(all_[0].count(), 0);
    for (const RivalMessage<Real>& letter : all_) add<Real>(sum_, 1, *letter.numbers);
  }

  const std::size_t self_;
  std::size_t here_ = 0;
  bool active_ = false, met_ = false;
  std::vector<Real> sum_;
  std::vector<RivalMessage<Real>> all_;
  std::deque<RivalMessage<Real>> waiting_;
};

}  // namespace dasgd
