// From the names of a model and of its data to an objective.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "dasgd/adapters/torch/network.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/data/arrays/array_data.hpp"
#include "dasgd/data/images/image_folder.hpp"
#include "dasgd/data/preparation/augmentation.hpp"
#include "dasgd/data/preprocessing.hpp"
#include "dasgd/data/rows/row_text.hpp"

namespace dasgd {

/// How data is read, and which part of it is held out.
struct DataChoice {
  std::string validation = {};  ///< a file or a share; empty: the data's own test part, or 0.1
  std::string test = {};        ///< a file
  std::vector<std::string> exclude = {};  ///< columns that are not inputs
  std::string label = {};  ///< the column of the label: its name or number; empty: the last
  std::optional<Scale> scale = {};
  std::optional<Missing> missing = {};     ///< nothing: the mean in CSV files, else an error
  std::optional<PictureSize> resize = {};  ///< of pictures in folders
  std::string class_weights = {};          ///< "balanced" or "NAME:WEIGHT,..."; empty: all weigh 1
};

/// What is trained on which data. What is not set is the model's own choice.
struct ProblemChoice {
  std::string model = "softmax";
  std::string data;         ///< a name, a path or a stream
  NamedArrays arrays = {};  ///< data that is in memory already: names for `data` and for its parts
  DataChoice reading = {};
  std::optional<NetworkLoss> loss = {};                    ///< of networks, like the next seven
  std::optional<NetworkDevice> device = {};                ///< the CPU
  std::optional<NetworkPrecision> precision = {};          ///< on a GPU, like the next two
  std::optional<bool> channels_last = {}, no_graph = {};   ///< no
  std::optional<GptShape> gpt = {};                        ///< small
  std::optional<std::size_t> context = {};                 ///< characters of a sample of text
  std::optional<Augmentation> augment = {};                ///< of images
  std::optional<RowFormat> format = {};                    ///< of a stream, like the next two
  std::optional<std::size_t> features = {}, classes = {};  ///< nothing: taken from the first rows
};

inline bool is_in_memory(const ProblemChoice& choice) {
  return choice.arrays.contains(choice.data);
}

using Problem = std::variant<std::unique_ptr<Objective<float>>, std::unique_ptr<Objective<double>>>;

/// Throws InputError, with a suggestion, unless a model of that name trains here.
void require_known_model(const std::string& name);

/// The problem of a choice; `seed` draws what it leaves to chance. Throws InputError for data that
/// cannot be used.
Problem make_problem(const ProblemChoice& choice, std::uint64_t seed);

}  // namespace dasgd
