// A worker's door to the other workers.
#pragma once

#include <memory>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/bundle.hpp"
#include "dasgd/core/gradient.hpp"

namespace dasgd {

/// What a worker applies in one step: gradients, oldest arrival first, or one bundle of what had
/// waited for long.
struct Received {
  std::vector<GradientPtr> gradients;
  BundlePtr bundle;

  bool empty() const { return gradients.empty() && !bundle; }
  void clear() {
    gradients.clear();
    bundle.reset();
  }
};

/// How a worker exchanges gradients. Nothing here waits for another worker, however slow that is.
/// Each worker has its own channel and is the only one to call it.
class Channel {
 public:
  virtual ~Channel() = default;

  /// receiveGradient(): up to `limit` waiting gradients, or a bundle, which comes as a whole.
  virtual void receive(std::size_t limit, Received& received) = 0;

  /// A gradient to be filled and sent, recycled where possible. While too many of this worker's
  /// gradients are still on their way, those that wait for slow workers are folded to make room.
  virtual std::shared_ptr<Gradient> blank() = 0;

  /// sendGradient(): every other worker will receive it exactly once.
  virtual void send(GradientPtr gradient) = 0;

  /// Reports that what the last `receive` gave has been applied: relay on application forwards it
  /// now.
  virtual void applied(const Received& received) = 0;

  virtual Nanoseconds now() const = 0;
};

}  // namespace dasgd
