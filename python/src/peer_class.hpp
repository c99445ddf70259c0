// One worker that a loop in Python feeds with gradients.
#pragma once

#include <pybind11/pybind11.h>

namespace dasgd::python {

void add_peer(pybind11::module_& module);

}  // namespace dasgd::python
