#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "dasgd/archive/run_directory.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/core/held_out.hpp"
#include "dasgd/models/predict.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

/// A field of CSV: quoted where it has to be.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// Writes answers as lines of CSV or JSON.
class Lines {
 public:
  /// `files`: the names of pictures; empty where there are none.
  Lines(std::vector<std::string> classes, const std::vector<std::string>& files, bool json)
      : classes_(std::move(classes)), files_(files), json_(json) {}

  std::string header() const {
    if (json_) return "";
    std::string line = "row,prediction";
    for (const std::string& name : classes_) line += "," + field("p_" + name);
    return line + (files_.empty() ? "\n" : ",file\n");
  }
  std::string line(std::size_t row, const Answer& answer) const {
    if (json_) return json_line(row, answer);
    std::string line = classes_.empty()
                           ? fmt::format("{},{}", row, static_cast<float>(answer.number))
                           : fmt::format("{},{}", row, field(classes_[answer.best]));
    for (const double p : answer.probabilities) line += fmt::format(",{:.6g}", p);
    return line + (files_.empty() ? "\n" : "," + field(files_[row]) + "\n");
  }

 private:
  std::string json_line(std::size_t row, const Answer& answer) const {
    nlohmann::ordered_json line{{"row", row}};
    if (!files_.empty()) line["file"] = files_[row];
    if (classes_.empty()) {
      line["prediction"] = answer.number;
    } else {
      line["prediction"] = classes_[answer.best];
      for (std::size_t k = 0; k < classes_.size(); ++k)
        line["probabilities"][classes_[k]] = answer.probabilities[k];
    }
    return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  const std::vector<std::string> classes_;
  const std::vector<std::string>& files_;
  const bool json_;
};

/// Holds answers against the labels that the data has.
class Score {
 public:
  Score(const RawData& data, const std::vector<std::string>& classes) {
    if (data.labels.values.size() != data.rows()) return;
    if (classes.empty()) {
      if (data.labels.names.empty()) targets_ = data.labels.values;
      return;
    }
    try {
      targets_ = to_classes(data, classes);
      counts_ = ClassCounts(classes.size());
    } catch (const InputError& error) {
      why_not_ = error.what();
    }
  }

  void add(std::size_t row, const Answer& answer) {
    if (targets_.empty() || std::isnan(targets_[row])) return;
    ++judged_;
    if (counts_)
      counts_->add(static_cast<std::size_t>(targets_[row]), answer.best);
    else
      squares_ += std::pow(static_cast<float>(answer.number) - targets_[row], 2);
  }
  std::string in_words() const {
    if (!why_not_.empty()) return "no accuracy: " + why_not_;
    if (judged_ == 0) return "";
    const std::string rows =
        fmt::format("{} {} with a label", show_count(judged_), judged_ == 1 ? "row" : "rows");
    if (counts_) return fmt::format("accuracy {:.6g} on {}", *counts_->accuracy(), rows);
    return fmt::format("mean squared error {:.6g} on {}", squares_ / static_cast<double>(judged_),
                       rows);
  }

 private:
  std::vector<double> targets_;  // empty: there are none
  std::optional<ClassCounts> counts_;
  std::string why_not_;  // labels cannot be compared
  double squares_ = 0;
  std::size_t judged_ = 0;
};

/// Where the lines go.
class Sink {
 public:
  explicit Sink(const std::string& path) {
    if (!path.empty()) file_.emplace(path);
  }
  void write(const std::string& text) {
    if (file_)
      file_->write(text);
    else
      print_result_text(text);
  }
  void finish() {
    if (file_) file_->commit();
  }

 private:
  std::optional<AtomicFile> file_;
};

/// Answers do not replace what they come from.
void require_other_file(const PredictRequest& request) {
  namespace fs = std::filesystem;
  if (request.out.empty() || !fs::exists(request.out)) return;
  std::vector<std::string> read{request.model};
  for (std::size_t at = 0; at <= request.data.size();) {  // "x.npy,y.npy"
    const std::size_t end = std::min(request.data.find(',', at), request.data.size());
    read.push_back(request.data.substr(at, end - at));
    at = end + 1;
  }
  std::error_code not_there;
  const fs::path out = fs::weakly_canonical(request.out);
  const bool is_read = std::ranges::any_of(
      read, [&](const std::string& path) { return fs::equivalent(path, out, not_there); });
  const bool is_of_the_run = RunDirectory::writes(out.filename().string()) &&
                             fs::equivalent(request.model, out.parent_path(), not_there);
  if (is_read || is_of_the_run)
    throw InputError("--out " + request.out +
                     ": it is a file that predict reads, or one of the run; choose another");
}

/// Whether the model knows the most frequent texts of this column only.
bool is_hashed(const RawData& data, const std::string& column) {
  return std::ranges::any_of(data.encoding, [&](const ColumnEncoding& encoding) {
    return encoding.column == column && encoding.hashed > 0;
  });
}

}  // namespace

int predict_command(const PredictRequest& request) {
  require_other_file(request);
  const auto read = leaving_at_once([&] {
    auto predictor = open_predictor(request.model);
    auto samples = read_for(predictor->preprocessing(), request.data);
    return std::pair(std::move(predictor), std::move(samples));
  });
  const auto& model = read.first;
  const RawData& data = read.second;
  const SignalStop signals;
  for (const auto& [column, count] : data.unknown)
    print_note("{} {} a {} that is {}\n", show_count(count), count == 1 ? "row has" : "rows have",
               column.empty() ? "text" : column,
               is_hashed(data, column) ? "new, or was rare in the training data"
                                       : "not in the training data");
  std::optional<Lines> lines;
  std::optional<Score> score;
  Sink sink(request.out);
  const bool all = predict_all(
      *model, data, signals.token(),
      [&](std::size_t row, std::size_t place, const Answer& answer, const auto& classes) {
        if (!lines) {
          lines.emplace(classes, data.files, request.json);
          score.emplace(data, classes);
          sink.write(lines->header());
        }
        sink.write(lines->line(row, answer));
        score->add(place, answer);
      });
  if (!all) return interrupted;
  sink.finish();
  if (const std::string found = score->in_words(); !found.empty()) print_note("{}\n", found);
  return done;
}

}  // namespace dasgd::app
