// The links of a network as something that can be replaced.
#pragma once

#include <functional>
#include <memory>

#include "dasgd/core/names.hpp"
#include "dasgd/transport/frame.hpp"

namespace dasgd {

/// Takes frames to the other end of their links, sooner or later.
class Carrier {
 public:
  virtual ~Carrier() = default;
  /// Never blocks and never calls back on the spot. The frames of one worker come one after the
  /// other; any thread.
  virtual void carry(WorkerId from, WorkerId to, const Frame& frame) = 0;
  /// From now on nothing is held back: what is on its way arrives as soon as it can, the frames of
  /// a link in the order in which they would have arrived. Does not wait for it. Any thread.
  virtual void deliver_held_back() = 0;
  /// Nothing arrives any more when this has returned; what is on its way is dropped.
  virtual void stop() = 0;
};

/// Brings a frame in at its destination; calls come from one thread.
using Arrival = std::function<void(WorkerId from, WorkerId to, const Frame& frame)>;
using CarrierFactory = std::function<std::unique_ptr<Carrier>(Arrival)>;

}  // namespace dasgd
