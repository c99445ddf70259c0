// dasgd._core: the door of the Python package to the library. It knows nothing of torch.
#include <pybind11/pybind11.h>

#include "comparing.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/run_summary.hpp"
#include "given_arrays.hpp"
#include "numbers.hpp"
#include "peer_class.hpp"
#include "predicting.hpp"
#include "runs.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  py::register_exception<dasgd::InputError>(module, "InputError", PyExc_ValueError);
  py::register_exception<dasgd::Divergence>(module, "DivergenceError", PyExc_ArithmeticError);
  module.attr("version") = dasgd::version();
  dasgd::python::add_numbers(module);
  dasgd::python::add_arrays(module);
  dasgd::python::add_runs(module);
  dasgd::python::add_compare(module);
  dasgd::python::add_predict(module);
  dasgd::python::add_peer(module);
}
