// What a person sees while a run goes.
#pragma once

#include <mutex>
#include <string>

#include "dasgd/runtime/progress.hpp"

namespace dasgd::app {

/// "[####......]", and "1:05:00".
std::string progress_bar(double done);
std::string show_clock(double seconds);

/// On a terminal one line that is rewritten in place; elsewhere a plain line every few seconds.
/// Standard error that takes nothing holds nobody up.
class StatusLine {
 public:
  explicit StatusLine(bool quiet);
  /// Removes the line from a terminal.
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  template <typename Real>
  void show(const Progress<Real>& progress) {
    if (!quiet_) print(describe(progress), progress.seconds);
  }
  /// The same for what is more than one run; `seconds` since its start.
  void show(const std::string& line, double seconds) {
    if (!quiet_) print(line, seconds);
  }
  /// Removes the line, so that something else can be printed.
  void clear();
  /// A line that stays. Any thread.
  void say(const std::string& line);

 private:
  template <typename Real>
  static std::string describe(const Progress<Real>& progress);
  void print(const std::string& line, double seconds);
  void remove();  // under the lock

  const bool quiet_, terminal_;
  double next_plain_ = 2;
  bool shown_ = false;
  std::mutex mutex_;  // guards what is shown: warnings come from any thread
};

}  // namespace dasgd::app
