// An objective that is written in Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <pybind11/pybind11.h>
#include <span>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/core/objective.hpp"
#include "numbers.hpp"

namespace dasgd::python {

/// Asks an object for `dimension`, `samples`, `start` and `gradient(x, rows) -> (loss, gradient)`,
/// as dasgd._objective has them; workers take turns, since Python runs one thread at a time.
class OwnObjective final : public Objective<double> {
 public:
  explicit OwnObjective(pybind11::object asked)
      : asked_(std::move(asked)),
        dimension_(asked_.attr("dimension").cast<std::size_t>()),
        samples_(asked_.attr("samples").cast<std::size_t>()),
        start_(dimension_) {
    if (dimension_ == 0 || samples_ == 0)
      throw InputError("an objective needs a dimension and samples of at least 1");
    take(asked_.attr("start"), "start", start_);
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
    const auto answer =
        asked_.attr("gradient")(own_numbers(x), own_numbers(rows)).cast<pybind11::tuple>();
    take(answer[1], "gradient", gradient);
    return answer[0].cast<double>();
  }

 private:
  void take(const pybind11::object& array, const char* what, std::span<double> to) const {
    const pybind11::buffer_info info = array.cast<pybind11::buffer>().request();
    const auto from = numbers_of<double>(info);
    if (from.size() != dimension_)
      throw InputError(std::string("the ") + what + " of an objective has " +
                       std::to_string(from.size()) + " numbers; its dimension is " +
                       std::to_string(dimension_));
    std::copy(from.begin(), from.end(), to.begin());
  }

  pybind11::object asked_;
  const std::size_t dimension_, samples_;
  std::vector<double> start_;
};

}  // namespace dasgd::python
