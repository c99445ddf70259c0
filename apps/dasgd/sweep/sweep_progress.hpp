// How far a sweep is, and how long it will take.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dasgd::app {

/// Runs with the same values take about as long as each other whatever their seed, and runs with
/// other values do not: what is left is added up setting by setting.
class SweepProgress {
 public:
  SweepProgress(const std::vector<std::size_t>& setting_of_run, std::size_t jobs);

  /// A run that was finished before this program began.
  void skip(std::size_t run);
  void finish(std::size_t run, double seconds);
  std::size_t done() const { return done_; }
  /// Of the whole; 0 until a finished run shows how long one takes.
  double seconds_left() const;
  std::string describe(std::size_t running, std::size_t diverged, std::size_t failed) const;

 private:
  struct Setting {
    std::size_t left = 0, timed = 0;
    double seconds = 0;
  };
  const std::vector<std::size_t>& setting_of_run_;
  const double jobs_;
  std::vector<Setting> settings_;
  std::size_t done_ = 0;
};

}  // namespace dasgd::app
