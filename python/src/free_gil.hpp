// Python's lock is free while C++ works, and nobody asks for it once the process is about to end.
#pragma once

#include <optional>
#include <pybind11/pybind11.h>

namespace dasgd::python {

/// Frees the GIL while it lives. Not where the process is about to end: Python ends a thread that
/// then asks for the GIL, within a destructor, and with it the process. To be asked whether it did.
class FreeGil {
 public:
  FreeGil();
  ~FreeGil();
  FreeGil(const FreeGil&) = delete;
  FreeGil& operator=(const FreeGil&) = delete;
  explicit operator bool() const { return release_.has_value(); }

 private:
  std::optional<pybind11::gil_scoped_release> release_;
};

/// The process ends.
bool is_leaving();
/// From now on it does, and whoever is without the GIL gets it back first; waits for some seconds
/// at most. To be called without the GIL.
void leave_python();

}  // namespace dasgd::python
