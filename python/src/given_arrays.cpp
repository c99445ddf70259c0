#include "given_arrays.hpp"

#include <memory>
#include <optional>
#include <pybind11/stl.h>
#include <utility>

#include "dasgd/data/arrays/array_data.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;

/// An array and the letter of its kind, as numpy has it.
using Array = std::pair<py::buffer, char>;

NpyArray open(const Array& array, const std::string& name) {
  // Whichever thread releases it last.
  const std::shared_ptr<const py::buffer_info> info(new py::buffer_info(array.first.request()),
                                                    [](const py::buffer_info* kept) {
                                                      const py::gil_scoped_acquire acquire;
                                                      delete kept;
                                                    });
  NpyHeader header;
  header.kind = array.second;
  header.size = static_cast<std::size_t>(info->itemsize);
  header.shape.assign(info->shape.begin(), info->shape.end());
  return {std::move(header), static_cast<const char*>(info->ptr), info, name};
}

}  // namespace

void add_arrays(py::module_& module) {
  py::class_<ArrayPair>(module, "Arrays")
      .def(py::init([](const std::string& name, const Array& x, const std::optional<Array>& y) {
             ArrayPair pair{open(x, name + " X")};
             if (y) pair.labels.emplace(open(*y, name + " y"));
             return pair;
           }),
           py::arg("name"), py::arg("x"), py::arg("y"));
}

}  // namespace dasgd::python
