// An algorithm that is written in Python, as a rival of a comparison.
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <pybind11/pybind11.h>
#include <stop_token>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"

namespace dasgd::python {

/// What the first participant that failed has thrown: whoever else still runs is stopped. Any
/// thread.
class OwnFailure {
 public:
  explicit OwnFailure(std::stop_source stop) : stop_(std::move(stop)) {}
  void note(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = failure;
    stop_.request_stop();
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::stop_source stop_;
  std::mutex mutex_;  // guards the failure
  std::exception_ptr failure_;
};

/// The kinds of a list of dasgd._rival.Kind. The list must outlive them and all that they make.
std::vector<RivalKind> own_rivals(const pybind11::list& kinds,
                                  const std::shared_ptr<OwnFailure>& failure);

void add_rival_port(pybind11::module_& module);

}  // namespace dasgd::python
