// Trained models and the data that they are asked about.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "dasgd/data/arrays/array_data.hpp"
#include "dasgd/data/predictor.hpp"
#include "dasgd/data/raw_data.hpp"

namespace dasgd {

/// The model of a run directory, or a TorchScript file. Throws InputError.
std::unique_ptr<Predictor> open_predictor(const std::string& run_or_file);

/// Raw samples as the model takes them, in the order of the data; with labels where it has some.
/// "-" is CSV on standard input; `arrays` are names that lead to memory. Throws InputError.
RawData read_for(const Preprocessing& model, const std::string& data,
                 const NamedArrays* arrays = nullptr);

/// Called with a row's number in the data, its place among the rows that were read, the answer, and
/// the names of the classes, which are empty where answers are numbers.
using EachAnswer = std::function<void(std::size_t row, std::size_t place, const Answer&,
                                      const std::vector<std::string>& classes)>;

/// Asks the model about all samples, in their order. False where a stop came first.
bool predict_all(Predictor& model, const RawData& data, const std::stop_token& stop,
                 const EachAnswer& each);

}  // namespace dasgd
