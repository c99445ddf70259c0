#include "dasgd/runtime/handover.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "dasgd/core/error.hpp"

namespace dasgd {

/// The worker's samples: it has one when a gradient was given.
template <typename Real>
class Handover<Real>::Samples final : public SampleSource {
 public:
  explicit Samples(Handover& handover) : handover_(handover) {}
  Draw next() override { return handover_.draw(); }

 private:
  Handover& handover_;
};

/// The worker's replica, whose last model stays.
template <typename Real>
class Handover<Real>::Kept final : public HostReplica<Real> {
 public:
  Kept(std::span<const Real> x0, const Handover& handover)
      : HostReplica<Real>(x0), handover_(handover) {}
  ~Kept() override { std::ranges::copy(this->x(), handover_.x_.begin()); }

 private:
  const Handover& handover_;
};

/// What the worker computes with: it is there already.
template <typename Real>
class Handover<Real>::Given final : public Oracle<Real> {
 public:
  explicit Given(const Handover& handover) : handover_(handover) {}

  double gradient(ComputePoint<Real>&, const Batch&, std::span<Real> g) override {
    std::ranges::copy(handover_.gradient_, g.begin());
    return handover_.loss_;
  }
  std::unique_ptr<Replica<Real>> make_replica(std::span<const Real> x0) override {
    auto replica = std::make_unique<Kept>(x0, handover_);
    handover_.replica_ = replica.get();
    return replica;
  }
  void computes_at(ComputePoint<Real>& point) override { handover_.point_ = &point; }

 private:
  const Handover& handover_;
};

template <typename Real>
Handover<Real>::Handover(std::vector<Real> start, std::size_t batch)
    : start_(std::move(start)), batch_(batch), x_(start_) {
  if (start_.empty()) throw InputError("a model needs at least one number");
  if (batch == 0) throw InputError("a gradient needs at least one sample");
}

template <typename Real>
std::unique_ptr<SampleSource> Handover<Real>::make_samples() {
  return std::make_unique<Samples>(*this);
}

template <typename Real>
std::unique_ptr<Oracle<Real>> Handover<Real>::make_oracle(WorkerId) const {
  return std::make_unique<Given>(*this);
}

template <typename Real>
double Handover<Real>::gradient(std::span<const Real>, Rows, std::span<Real>) const {
  throw std::logic_error("gradients are handed over, not asked for");
}

// On the worker's thread: the caller computes meanwhile.
template <typename Real>
Draw Handover<Real>::draw() {
  std::ranges::copy(point_->y(), x_.begin());
  const auto began = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (no_more_) return Draw::no_more();
  turn_ = Turn::caller;
  turn_changed_.notify_all();
  turn_changed_.wait(lock, [this] { return turn_ != Turn::caller; });
  if (!std::exchange(given_, false)) return Draw::no_more();
  Draw draw = Draw::batch(rows_);
  draw.under_way = std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count();
  return draw;
}

template <typename Real>
bool Handover<Real>::wait() {
  std::unique_lock lock(mutex_);
  turn_changed_.wait(lock, [this] { return turn_ != Turn::worker; });
  return turn_ == Turn::caller;
}

template <typename Real>
std::optional<bool> Handover<Real>::wait_for(std::chrono::milliseconds limit) {
  std::unique_lock lock(mutex_);
  if (!turn_changed_.wait_for(lock, limit, [this] { return turn_ != Turn::worker; }))
    return std::nullopt;
  return turn_ == Turn::caller;
}

template <typename Real>
void Handover<Real>::copy_shared(std::span<Real> model) const {
  const std::lock_guard lock(mutex_);
  const std::span<const Real> shared =
      turn_ == Turn::caller ? replica_->x() : std::span<const Real>(x_);
  std::ranges::copy(shared, model.begin());
}

// In the caller's turn the worker waits for the lock: its replica stays.
template <typename Real>
bool Handover<Real>::x_is_the_replicas() const {
  const std::lock_guard lock(mutex_);
  if (turn_ != Turn::caller) return true;
  const std::span<const Real> exact = point_->last_y();
  return std::memcmp(x_.data(), exact.data(), exact.size_bytes()) == 0;
}

template <typename Real>
void Handover<Real>::give(std::span<const Real> gradient, double loss,
                          std::optional<std::size_t> samples) {
  const std::lock_guard lock(mutex_);
  if (turn_ != Turn::caller) return;
  rows_.resize(samples.value_or(batch_));
  gradient_ = gradient;
  loss_ = loss;
  given_ = true;
  turn_ = Turn::worker;
  turn_changed_.notify_all();
}

template <typename Real>
void Handover<Real>::give_no_more() {
  const std::lock_guard lock(mutex_);
  no_more_ = true;
  if (turn_ == Turn::caller) turn_ = Turn::worker;
  turn_changed_.notify_all();
}

template <typename Real>
void Handover<Real>::end() {
  const std::lock_guard lock(mutex_);
  turn_ = Turn::over;
  turn_changed_.notify_all();
}

template class Handover<float>;
template class Handover<double>;

}  // namespace dasgd
