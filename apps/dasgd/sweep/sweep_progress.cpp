#include "sweep/sweep_progress.hpp"

#include <fmt/format.h>

#include "terminal/status_line.hpp"

namespace dasgd::app {

SweepProgress::SweepProgress(const std::vector<std::size_t>& setting_of_run, std::size_t jobs)
    : setting_of_run_(setting_of_run), jobs_(static_cast<double>(jobs)) {
  settings_.resize(setting_of_run.empty() ? 0 : setting_of_run.back() + 1);
  for (const std::size_t setting : setting_of_run) ++settings_[setting].left;
}

void SweepProgress::skip(std::size_t run) {
  --settings_[setting_of_run_[run]].left;
  ++done_;
}

void SweepProgress::finish(std::size_t run, double seconds) {
  skip(run);
  Setting& setting = settings_[setting_of_run_[run]];
  ++setting.timed;
  setting.seconds += seconds;
}

double SweepProgress::seconds_left() const {
  double all = 0, timed = 0, left = 0;
  for (const Setting& setting : settings_) {
    all += setting.seconds;
    timed += static_cast<double>(setting.timed);
  }
  if (timed == 0) return 0;
  for (const Setting& setting : settings_)
    left +=
        static_cast<double>(setting.left) *
        (setting.timed > 0 ? setting.seconds / static_cast<double>(setting.timed) : all / timed);
  return left / jobs_;
}

std::string SweepProgress::describe(std::size_t running, std::size_t diverged,
                                    std::size_t failed) const {
  const double share = static_cast<double>(done_) / static_cast<double>(setting_of_run_.size());
  std::string line =
      fmt::format("{} {} of {} runs", progress_bar(share), done_, setting_of_run_.size());
  if (const double left = seconds_left(); left > 0) line += "  left " + show_clock(left);
  line += fmt::format("  {} running", running);
  if (diverged > 0) line += fmt::format("  {} diverged", diverged);
  if (failed > 0) line += fmt::format("  {} failed", failed);
  return line;
}

}  // namespace dasgd::app
