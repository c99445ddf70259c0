#include "dasgd/runtime/peer.hpp"

#include <stdexcept>

#include "dasgd/core/error.hpp"
#include "dasgd/runtime/train.hpp"

namespace dasgd {

template <typename Real>
Peer<Real>::Peer(std::vector<Real> start, const TrainOptions& options, std::size_t batch,
                 Engine engine)
    : handover_(std::move(start), batch),
      options_(options),
      stop_given_(options.stop, [this] { stop_.request_stop(); }) {
  options_.make_samples = [this](WorkerId, std::uint64_t) { return handover_.make_samples(); };
  options_.evaluation.every = {};
  options_.stop = stop_.get_token();
  options_.applied = &applied_;
  thread_ = std::jthread([this, engine = std::move(engine)] {
    try {
      result_ = engine(handover_, options_);
      if (result_) failure_ = result_->failure;
    } catch (...) {
      failure_ = std::current_exception();
    }
    handover_.end();
  });
  if (handover_.wait()) return;
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  if (options.stop.stop_requested()) throw InputError("stopped before the run began");
}

template <typename Real>
Peer<Real>::~Peer() {
  close();
}

template <typename Real>
void Peer<Real>::close() {
  stop_.request_stop();
  handover_.give_no_more();
  wait_for_end();
}

template <typename Real>
void Peer<Real>::wait_for_end() {
  const std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

template <typename Real>
bool Peer<Real>::step(std::span<const Real> gradient, double loss,
                      std::optional<std::size_t> samples) {
  give(gradient, loss, samples);
  return handover_.wait();
}

template <typename Real>
void Peer<Real>::give(std::span<const Real> gradient, double loss,
                      std::optional<std::size_t> samples) {
  if (gradient.size() != handover_.dimension())
    throw InputError("the gradient has " + std::to_string(gradient.size()) +
                     " numbers, the model " + std::to_string(handover_.dimension()));
  if (samples && *samples == 0) throw InputError("a gradient needs at least one sample");
  handover_.give(gradient, loss, samples);
}

template <typename Real>
void Peer<Real>::require_no_divergence() const {
  if (!failure_) return;
  try {
    std::rethrow_exception(failure_);
  } catch (const Divergence&) {
    throw;
  } catch (...) {  // `finish` reports it
  }
}

template <typename Real>
std::optional<TrainResult<Real>> Peer<Real>::finish() {
  handover_.give_no_more();
  wait_for_end();
  if (failure_) std::rethrow_exception(failure_);
  return std::move(result_);
}

template <typename Real>
typename Peer<Real>::Engine Peer<Real>::alone() {
  return [](const Objective<Real>& objective, const TrainOptions& options) {
    if (options.workers != 1)  // they would share one loop
      throw InputError("workers: a Peer without ranks is one worker, not " +
                       std::to_string(options.workers) + "; set workers to 1");
    return std::optional(run_training<Real>(objective, options));
  };
}

template class Peer<float>;
template class Peer<double>;

}  // namespace dasgd
