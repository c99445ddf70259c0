// The runs of a sweep, setting by setting, as small as pictures need them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/record/sweep.hpp"

namespace dasgd::report {

/// A value over something that grows, of one run.
struct Curve {
  std::vector<double> x, y;

  /// Between its points, on a straight line; nothing before the first and behind the last.
  std::optional<double> at(double where) const;
};

/// Mean and sample deviation.
struct MeanOf {
  std::size_t count = 0;
  double mean = 0, deviation = 0;
};
MeanOf mean_of(const std::vector<double>& values);

/// All seeds of one combination of values.
struct SweepSetting {
  std::vector<std::string> values;
  std::size_t runs = 0, diverged = 0;
  std::vector<nlohmann::ordered_json> summaries;  ///< of those that did not diverge
  /// Of those as well, by "loss samples", "loss seconds", "accuracy samples": quantity and axis.
  std::map<std::string, std::vector<Curve>> curves;
};

/// Reads what is finished.
std::vector<SweepSetting> read_settings(const Sweep& sweep, const std::string& directory);

}  // namespace dasgd::report
