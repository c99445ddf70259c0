#include <algorithm>
#include <optional>
#include <string>

#include "dasgd/data/catalogue.hpp"
#include "dasgd/models/network_problem.hpp"
#include "dasgd/models/stream.hpp"
#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/setting_kinds.hpp"

namespace dasgd::config {
namespace {

// Names stay names; a path is written so that the run can go on from another directory.
std::string data_from_anywhere(const std::string& data) {
  if (data == "-") return data;
  if (is_stream(data)) return from_anywhere(data);
  const auto& sets = known_data_sets();
  const bool is_name = std::any_of(sets.begin(), sets.end(),
                                   [&](const KnownDataSet& set) { return set.name == data; });
  return is_name ? data : file_from_anywhere(data);
}

std::string model_from_anywhere(const std::string& model) {
  return model.ends_with(".pt") ? from_anywhere(model) : model;
}

}  // namespace

std::map<std::string, std::string> subject_of(const Config& config) {
  const ProblemChoice& problem = config.problem;
  const std::string& weights = problem.reading.class_weights;
  const std::string& validation = problem.reading.validation;
  std::map<std::string, std::string> subject{
      {"model", model_from_anywhere(problem.model)},
      {"data", data_from_anywhere(problem.data)},
      {"validation", validation.empty() ? "the default" : file_from_anywhere(validation)},
      {"weighting of classes", weights.empty() ? "all equal" : weights}};
  if (is_network(problem.model) || problem.model == "linear")
    subject["loss"] = to_string(problem.loss.value_or(
        problem.model == "linear" ? NetworkLoss::mean_squared_error : NetworkLoss::cross_entropy));
  return subject;
}

std::vector<Setting> problem_settings() {
  Setting model =
      text({"model", "--model", "NAME|FILE.pt",
            "quadratic, logistic, softmax (default), linear; with LibTorch: mlp, cnn, resnet18, "
            "char-transformer, gpt or a TorchScript file"},
           field(&Config::problem, &ProblemChoice::model));
  model.set = [](Config& c, const std::string& name) {
    require_known_model(name);
    c.problem.model = name;
  };
  model.show = [](const Config& c) -> std::optional<std::string> {
    return quoted(model_from_anywhere(c.problem.model));
  };
  Setting data = text(
      {"data", "--data", "NAME|PATH|-|follow:FILE",
       "a known data set (dasgd data list); a CSV, LIBSVM, .npy or .npz file, X.npy,y.npy; a "
       "directory of idx files, of CIFAR-10 or with a folder of pictures for each class; a text; a "
       "JSON instance {\"A\", \"b\"}; - or follow:FILE for rows "
       "that arrive on standard input or at the end of a file (train; not for "
       "quadratic, linear and networks that take images or texts). "
       "Default: the paper's random instance; fashion-mnist for softmax, mlp and cnn; cifar10 for "
       "resnet18"},
      field(&Config::problem, &ProblemChoice::data));
  data.show = [](const Config& c) -> std::optional<std::string> {
    if (c.problem.data.empty()) return std::nullopt;
    return quoted(data_from_anywhere(c.problem.data));
  };
  return {
      model,
      data,
      named({"loss", "--loss", "cross-entropy|mse|huber",
             "loss function: cross-entropy (default for networks); for numeric labels mse (default "
             "for linear), or huber, which is robust to outliers"},
            field(&Config::problem, &ProblemChoice::loss), parse_loss),
      named({"device", "--device", "cpu|cuda", "device for networks: cpu (default) or cuda"},
            field(&Config::problem, &ProblemChoice::device), parse_device),
      named({"precision", "--precision", "NAME",
             "precision of matrix products on a GPU: fp32 (default), tf32 or bf16"},
            field(&Config::problem, &ProblemChoice::precision), parse_precision),
      flag("channels_last", "--channels-last", "on a GPU: channels-last layout for images",
           field(&Config::problem, &ProblemChoice::channels_last)),
      flag("no_graph", "--no-graph", "on a GPU: do not record steps as a CUDA graph",
           field(&Config::problem, &ProblemChoice::no_graph)),
      named({"gpt", "--gpt", "SHAPE",
             "shape of model gpt: small (default), medium or WIDTH:DEPTH:HEADS"},
            field(&Config::problem, &ProblemChoice::gpt), parse_gpt),
      count("context", "--context",
            "length of a text sample in characters (default: 64; 1024 for model gpt)",
            field(&Config::problem, &ProblemChoice::context), 2),
      named(
          {"augment", "--augment", "LIST", "augment the training images: flip, crop or flip,crop"},
          field(&Config::problem, &ProblemChoice::augment), parse_augmentation),
  };
}

std::vector<Setting> stream_settings() {
  return {
      named({"format", "--format", "csv|libsvm",
             "format of a stream (--data - or follow:FILE; default: from the first line)"},
            field(&Config::problem, &ProblemChoice::format), parse_row_format),
      count("features", "--features",
            "features of a stream (default: from the first row of CSV, else from the first 1,000 "
            "rows)",
            field(&Config::problem, &ProblemChoice::features), 1),
      count("classes", "--classes",
            "classes of a stream, for softmax and networks (default: from the first 1,000 rows)",
            field(&Config::problem, &ProblemChoice::classes), 2),
  };
}

}  // namespace dasgd::config
