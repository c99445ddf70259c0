// Comparisons of algorithms for Python.
#pragma once

#include <pybind11/pybind11.h>

namespace dasgd::python {

void add_compare(pybind11::module_& module);

}  // namespace dasgd::python
