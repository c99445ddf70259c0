// A gradient as it travels: a name, where it was computed, and eta * g in integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/gradient_set.hpp"
#include "dasgd/core/names.hpp"

namespace dasgd {

class DeviceSums;  // see bundle.hpp

/// The numbers of an update in the memory of a device, where they may still be computed. Written by
/// the origin's thread before the gradient is sent, then read by any.
class DeviceUpdate {
 public:
  virtual ~DeviceUpdate() = default;
  virtual std::size_t size_in_bytes() const = 0;
  /// Whether they are there: whoever uses them before that waits for the origin's device.
  virtual bool ready() const = 0;
  /// Copies them to this machine's memory and returns their shift.
  virtual int fetch(std::span<std::byte> to) const = 0;
  /// The numbers in the order of that memory and behind them their shift, an int32: where a message
  /// begins and ends if the transport can read and write there. Empty where nobody may.
  virtual std::span<std::byte> memory() { return {}; }
  /// Zero sums in the same memory, to which updates can be added there; null where there are none.
  virtual std::shared_ptr<DeviceSums> zero_sums() const { return nullptr; }

 private:
  friend class Update;
  std::mutex mutex_;  // guards the copy in this machine's memory
};

/// A device on which the updates of others are received.
struct DeviceBuffers {
  /// A buffer there. To be called by the thread that will carry messages to it; null: there is no
  /// such device.
  std::function<std::shared_ptr<DeviceUpdate>()> make;
  /// Devices on which this is the same text have numbers in the same order.
  std::string order;
};

/// The numbers of an update, -eta * g, in integers: `numbers << shift` units (see fixed_point.hpp).
/// The bytes are kept without a type, so that only workers need to know float from double. Those
/// that lie elsewhere come here when somebody asks for them; `shift` is known from then on.
class Update {
 public:
  template <typename Real>
  std::span<Number<Real>> numbers() {
    return {reinterpret_cast<Number<Real>*>(memory()), size_ / sizeof(Number<Real>)};
  }
  template <typename Real>
  std::span<const Number<Real>> numbers() const {
    bring_here();
    return {reinterpret_cast<const Number<Real>*>(memory()), size_ / sizeof(Number<Real>)};
  }
  template <typename Real>
  void resize(std::size_t dimension) {
    resize_bytes(dimension * sizeof(Number<Real>), number_format<Real>);
  }
  void resize_bytes(std::size_t size, NumberFormat format) {
    on_device_.reset();
    format_ = format;
    take_room(size);
  }
  std::span<std::byte> bytes() { return {memory(), size_}; }
  std::span<const std::byte> bytes() const {
    bring_here();
    return {memory(), size_};
  }
  /// Without bringing them here.
  std::size_t size_in_bytes() const { return on_device_ ? on_device_->size_in_bytes() : size_; }
  NumberFormat format() const { return format_; }

  /// Numbers that fit there lie in this memory from now on, which somebody else keeps.
  void settle(std::span<std::byte> place) { place_ = place; }
  bool is_settled() const { return !place_.empty(); }

  /// The numbers are there now.
  void put(std::shared_ptr<DeviceUpdate> on_device, NumberFormat format) {
    on_device_ = std::move(on_device);
    format_ = format;
    here_ = false;
  }
  /// Null where they are in this machine's memory alone.
  const std::shared_ptr<DeviceUpdate>& on_device() const { return on_device_; }
  bool ready() const { return !on_device_ || on_device_->ready(); }

  mutable int shift = 0;

 private:
  void bring_here() const {
    if (!on_device_) return;
    const std::lock_guard lock(on_device_->mutex_);
    if (here_) return;
    take_room(on_device_->size_in_bytes());
    shift = on_device_->fetch({memory(), size_});
    here_ = true;
  }
  void take_room(std::size_t size) const {
    size_ = size;
    if (size > place_.size()) own_.resize(size);
  }
  std::byte* memory() const { return size_ > place_.size() ? own_.data() : place_.data(); }

  NumberFormat format_ = NumberFormat::of_float;
  std::shared_ptr<DeviceUpdate> on_device_;
  mutable bool here_ = true;  // a copy of what is elsewhere
  mutable std::size_t size_ = 0;
  mutable std::vector<std::byte> own_;
  std::span<std::byte> place_;
};

/// All that is known of a gradient but its numbers.
struct GradientFacts {
  GradientName name;
  std::uint64_t origin_step = 0;  ///< s: the origin's step counter when it computed this gradient
  double eta = 0;                 ///< the step size that is already in the update
  std::uint32_t samples = 0;      ///< of which it is the mean
  GradientSet compute_set;        ///< D(g) = G_j^s, what the origin had applied; |D(g)| = s

  /// In memory; in a message they take less.
  std::size_t facts_bytes() const { return sizeof(GradientFacts) + compute_set.size_in_bytes(); }
};

/// What the origin sends. Written once by the origin, then shared and never changed.
struct Gradient : GradientFacts {
  Update update;
};

using GradientPtr = std::shared_ptr<const Gradient>;

}  // namespace dasgd
