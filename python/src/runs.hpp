// Whole runs for Python: train, simulate, advise, check, report.
#pragma once

#include <pybind11/pybind11.h>

namespace dasgd::python {

void add_runs(pybind11::module_& module);

}  // namespace dasgd::python
