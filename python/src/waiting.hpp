// Long work in C++ that Ctrl-C in Python ends.
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <pybind11/pybind11.h>
#include <stop_token>
#include <thread>
#include <utility>

#include "dasgd/core/error.hpp"
#include "free_gil.hpp"

namespace dasgd::python {

/// Does `work` on a thread of its own, without the GIL, and waits for it. A signal that Python
/// turns into an exception requests a stop; the exception is thrown when the work has ended.
template <typename Work>
auto without_gil(std::stop_source& stop, Work work) {
  namespace py = pybind11;
  std::packaged_task<decltype(work())()> task(std::move(work));
  auto result = task.get_future();
  std::optional<py::error_already_set> interrupt;
  {
    const FreeGil free;
    if (!free) throw InputError("this process is ending");
    const std::jthread thread(std::move(task));
    while (result.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
      if (is_leaving()) stop.request_stop();
      if (interrupt || is_leaving()) continue;
      const py::gil_scoped_acquire acquire;
      if (PyErr_CheckSignals() == 0) continue;
      interrupt.emplace();
      stop.request_stop();
    }
  }
  if (interrupt) {
    try {
      result.get();
    } catch (...) {  // the interrupt comes first
    }
    throw std::move(*interrupt);
  }
  return result.get();
}

}  // namespace dasgd::python
