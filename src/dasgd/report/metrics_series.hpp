// The lines of metrics.jsonl in bounded memory, minima and maxima kept.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/run/figures.hpp"

namespace dasgd::report {

/// A value over one or more neighbouring lines.
struct Spread {
  double mean = 0, least = 0, most = 0;
};

struct MetricsRow {
  static constexpr std::array<const char*, 14> names{"loss",
                                                     "accuracy",
                                                     "gradients_per_second",
                                                     "S_now",
                                                     "S_avg",
                                                     "S_max",
                                                     "inbox_depth",
                                                     "folded",
                                                     "waited_seconds",
                                                     "eval_loss",
                                                     "prequential_accuracy",
                                                     "lambda",
                                                     "missing_estimated",
                                                     "missing_true"};

  double lines = 1;                                                  ///< how many are in it
  double seconds = 0, gradients = 0, applications = 0, samples = 0;  ///< at its end
  std::array<std::optional<Spread>, names.size()> values;            ///< by `names`
  std::map<std::string, Spread> own;                                 ///< RunFigures::own
  std::vector<double> gradients_by_worker;                           ///< at its end
  std::vector<double> inbox_by_worker;                               ///< the fullest in it
};

/// When there are too many rows, two neighbours become one; rows of many workers count for several.
class MetricsSeries {
 public:
  /// Of the names that a loop may log, so many are kept: those that come first.
  static constexpr std::size_t most_own_names = 16;

  explicit MetricsSeries(std::size_t most_rows = 2000) : most_(most_rows) {}

  void add(const RunFigures& figures);
  /// Takes a line of metrics.jsonl. False if it is not such a line.
  bool add(const nlohmann::json& line);
  const std::vector<MetricsRow>& rows() const { return rows_; }
  const std::vector<std::string>& own_names() const { return own_names_; }
  bool merged() const { return per_row_ > 1; }

 private:
  void append(MetricsRow row);
  std::vector<double> in_all_legs(std::vector<double> made);
  void add_own(MetricsRow& row, const std::string& name, double value);
  std::size_t most() const;

  std::size_t most_;
  std::size_t per_row_ = 1;
  std::vector<MetricsRow> rows_;
  std::vector<std::string> own_names_;
  std::vector<double> made_in_leg_, made_before_;  // by worker: as the last line said, and before
};

}  // namespace dasgd::report
