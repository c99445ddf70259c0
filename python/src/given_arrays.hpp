// Arrays of numpy as data of a run, read where they lie.
#pragma once

#include <pybind11/pybind11.h>

namespace dasgd::python {

/// Adds the class Arrays(name, x, y) over ArrayPair. Arrays must stand in C order and the machine's
/// order of bytes; they stay alive as long as a run may read them.
void add_arrays(pybind11::module_& module);

}  // namespace dasgd::python
