#include "predicting.hpp"

#include <cstdint>
#include <pybind11/stl.h>
#include <stop_token>
#include <vector>

#include "dasgd/models/predict.hpp"
#include "numbers.hpp"
#include "waiting.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;

/// Answers side by side.
struct Answered {
  std::vector<std::string> classes;
  std::vector<double> numbers;        // or
  std::vector<std::uint64_t> best;    // of the classes
  std::vector<double> probabilities;  // row after row
};

Answered ask(const std::string& model, const std::string& data, const NamedArrays& arrays,
             const std::stop_token& stop) {
  const auto predictor = open_predictor(model);
  const RawData rows = read_for(predictor->preprocessing(), data, &arrays);
  Answered all;
  const auto each = [&](std::size_t, std::size_t, const Answer& answer, const auto& classes) {
    if (classes.empty()) {
      all.numbers.push_back(answer.number);
      return;
    }
    if (all.best.empty()) all.classes = classes;
    all.best.push_back(answer.best);
    all.probabilities.insert(all.probabilities.end(), answer.probabilities.begin(),
                             answer.probabilities.end());
  };
  predict_all(*predictor, rows, stop, each);
  return all;
}

// (classes, numbers of the classes, probabilities row after row), or ([], numbers, none)
py::tuple predict(const std::string& model, const py::object& data) {
  NamedArrays arrays;
  std::string name;
  if (py::isinstance<ArrayPair>(data)) {
    const auto& pair = data.cast<const ArrayPair&>();
    name = pair.inputs.path();
    arrays.emplace(name, pair);
  } else {
    name = py::str(data);
  }
  std::stop_source stop;
  const Answered all =
      without_gil(stop, [&] { return ask(model, name, arrays, stop.get_token()); });
  if (all.classes.empty())
    return py::make_tuple(all.classes, own_numbers(all.numbers), own_numbers(all.probabilities));
  return py::make_tuple(all.classes, own_numbers(all.best), own_numbers(all.probabilities));
}

}  // namespace

void add_predict(py::module_& module) {
  module.def("predict", &predict, py::arg("model"), py::arg("data"));
}

}  // namespace dasgd::python
