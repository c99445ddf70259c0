// dasgd._core: the door of the Python package to the library. It knows nothing of torch.
#include <pybind11/pybind11.h>

#include "dasgd/core/error.hpp"
#include "dasgd/record/run_summary.hpp"
#include "peer_class.hpp"
#include "runs.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  py::register_exception<dasgd::InputError>(module, "InputError", PyExc_ValueError);
  py::register_exception<dasgd::Divergence>(module, "DivergenceError", PyExc_ArithmeticError);
  module.attr("version") = dasgd::version();
  dasgd::python::add_runs(module);
  dasgd::python::add_peer(module);
}
