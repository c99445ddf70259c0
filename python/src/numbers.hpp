// Arrays to and from Python by its own protocol for memory, so that nothing depends on a version of
// numpy.
#pragma once

#include <memory>
#include <pybind11/pybind11.h>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/core/error.hpp"

namespace dasgd::python {

/// Memory that numpy.asarray shows as an array.
struct Numbers {
  void* data = nullptr;
  pybind11::ssize_t size = 0, count = 0;  ///< bytes of one, and how many
  std::string format;
  std::shared_ptr<const void> owner = {};  ///< nothing: somebody else keeps it
};

/// Numbers of their own.
template <typename Number>
Numbers own_numbers(std::vector<Number> numbers) {
  const auto kept = std::make_shared<std::vector<Number>>(std::move(numbers));
  return {kept->data(), sizeof(Number), static_cast<pybind11::ssize_t>(kept->size()),
          pybind11::format_descriptor<Number>::format(), kept};
}
template <typename Number>
Numbers own_numbers(std::span<const Number> numbers) {
  return own_numbers(std::vector<Number>(numbers.begin(), numbers.end()));
}

/// What Python gave, which must be an array of this type in C order, while `info` lives.
template <typename Number>
std::span<const Number> numbers_of(const pybind11::buffer_info& info) {
  bool in_order = info.format == pybind11::format_descriptor<Number>::format();
  pybind11::ssize_t step = info.itemsize;
  for (pybind11::ssize_t k = info.ndim; k-- > 0; step *= info.shape[static_cast<std::size_t>(k)])
    in_order = in_order && (info.strides[static_cast<std::size_t>(k)] == step || info.size == 0);
  if (!in_order) throw InputError("expected a contiguous array of another type");
  return {static_cast<const Number*>(info.ptr), static_cast<std::size_t>(info.size)};
}

inline void add_numbers(pybind11::module_& module) {
  pybind11::class_<Numbers>(module, "Numbers", pybind11::buffer_protocol())
      .def_buffer([](Numbers& n) {
        return pybind11::buffer_info(n.data, n.size, n.format, 1, {n.count}, {n.size});
      });
}

}  // namespace dasgd::python
