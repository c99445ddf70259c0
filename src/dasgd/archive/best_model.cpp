#include "dasgd/archive/best_model.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <type_traits>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/models/network_problem.hpp"
#include "dasgd/record/json_number.hpp"
#include "dasgd/record/npy.hpp"

namespace dasgd {
namespace {

std::optional<Evaluation> read(const std::string& path) {
  std::ifstream file = open_file(path + ".json");
  if (!file || !std::filesystem::exists(path + ".npy")) return std::nullopt;
  const auto json = parse_json(file);
  if (!json.is_object()) return std::nullopt;
  const auto number = [&](const char* key) -> std::optional<double> {
    if (!json.contains(key) || !json[key].is_number()) return std::nullopt;
    return json[key].get<double>();
  };
  return Evaluation{number("seconds").value_or(0), number("accuracy"), number("eval_loss")};
}

}  // namespace

std::string to_json(const Evaluation& evaluation) {
  nlohmann::ordered_json json{{"seconds", evaluation.seconds}};
  if (evaluation.accuracy) json["accuracy"] = json_number(*evaluation.accuracy);
  if (evaluation.loss) json["eval_loss"] = json_number(*evaluation.loss);
  return json.dump();
}

BestModel::BestModel(const std::string& directory, bool resumed)
    : path_(directory + "/model.best"), known_(resumed ? read(path_) : std::nullopt) {
  if (known_) return;
  std::error_code ignored;
  for (const char* ending : {".json", ".npy", ".pt"})
    std::filesystem::remove(path_ + ending, ignored);
}

template <typename Real>
void BestModel::write(const Objective<Real>& objective, const Evaluation& evaluation,
                      std::span<const Real> model) {
  if (known_ && known_->seconds == evaluation.seconds) return;
  // The model first: killed in between, the text promises less than there is.
  write_file(path_ + ".npy", to_npy<Real>(model));
  if constexpr (std::is_same_v<Real, float>)
    if (const auto bytes = torchscript_of(objective, model)) write_file(path_ + ".pt", *bytes);
  write_file(path_ + ".json", to_json(evaluation) + "\n");
  known_ = evaluation;
}

template void BestModel::write(const Objective<float>&, const Evaluation&, std::span<const float>);
template void BestModel::write(const Objective<double>&, const Evaluation&,
                               std::span<const double>);

}  // namespace dasgd
