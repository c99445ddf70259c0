// An objective that is written in Python.
#pragma once

#include <cstdint>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/core/objective.hpp"

namespace dasgd::python {

/// Asks an object for `dimension`, `samples`, `start` and `gradient(x, rows) -> (loss, gradient)`;
/// workers take turns, since Python runs one thread at a time.
class OwnObjective final : public Objective<double> {
 public:
  explicit OwnObjective(pybind11::object asked)
      : asked_(std::move(asked)), dimension_(asked_.attr("dimension").cast<std::size_t>()) {
    if (pybind11::hasattr(asked_, "samples")) samples_ = asked_.attr("samples").cast<std::size_t>();
    if (dimension_ == 0 || samples_ == 0)
      throw InputError("an objective needs a dimension and samples of at least 1");
    start_.assign(dimension_, 0.0);
    if (pybind11::hasattr(asked_, "start")) {
      const auto start = asked_.attr("start").cast<Array>();
      require_dimension(start, "start");
      start_.assign(start.data(), start.data() + start.size());
    }
  }
  ~OwnObjective() override {
    const pybind11::gil_scoped_acquire acquire;
    asked_ = {};
  }

  std::size_t dimension() const override { return dimension_; }
  std::size_t samples() const override { return samples_; }
  std::vector<double> start() const override { return start_; }

  double gradient(std::span<const double> x, Rows rows, std::span<double> gradient) const override {
    const pybind11::gil_scoped_acquire acquire;
    const pybind11::array_t<double> at(static_cast<pybind11::ssize_t>(x.size()), x.data());
    const pybind11::array_t<std::uint32_t> which(static_cast<pybind11::ssize_t>(rows.size()),
                                                 rows.data());
    const auto answer = asked_.attr("gradient")(at, which).cast<pybind11::tuple>();
    const auto found = answer[1].cast<Array>();
    require_dimension(found, "gradient");
    std::copy_n(found.data(), dimension_, gradient.begin());
    return answer[0].cast<double>();
  }

 private:
  using Array = pybind11::array_t<double, pybind11::array::c_style | pybind11::array::forcecast>;

  void require_dimension(const Array& array, const char* what) const {
    if (static_cast<std::size_t>(array.size()) != dimension_)
      throw InputError(std::string("the ") + what + " of an objective has " +
                       std::to_string(array.size()) + " numbers; its dimension is " +
                       std::to_string(dimension_));
  }

  pybind11::object asked_;
  const std::size_t dimension_;
  std::size_t samples_ = 1;
  std::vector<double> start_;
};

}  // namespace dasgd::python
