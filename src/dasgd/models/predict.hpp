// Trained models and the data that they are asked about.
#pragma once

#include <memory>
#include <string>

#include "dasgd/data/predictor.hpp"
#include "dasgd/data/raw_data.hpp"

namespace dasgd {

/// The model of a run directory, or a TorchScript file. Throws InputError.
std::unique_ptr<Predictor> open_predictor(const std::string& run_or_file);

/// Raw samples as the model takes them, in the order of the data; with labels where it has some.
/// "-" is CSV on standard input. Throws InputError.
RawData read_for(const Preprocessing& model, const std::string& data);

}  // namespace dasgd
