// Answers of trained models for Python.
#pragma once

#include <pybind11/pybind11.h>

namespace dasgd::python {

void add_predict(pybind11::module_& module);

}  // namespace dasgd::python
