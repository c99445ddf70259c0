// Runs that are finished, on disk, so that a comparison that was interrupted goes on.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "dasgd/lab/referee/contest/contest.hpp"

namespace dasgd {

/// A file of one line per finished run. Any thread may use it.
class Journal {
 public:
  /// Reads what is there. Throws InputError where the file belongs to another comparison: one with
  /// another `identity`. A new one begins with the date `today`.
  Journal(std::string path, const std::string& identity, const std::string& today = "");
  /// Without a file: nothing is kept.
  Journal() = default;

  /// The run of that name: as it was kept, or as `make` makes it.
  ContestRun run(const std::string& name, const std::function<ContestRun()>& make);
  std::size_t found() const { return found_; }
  /// Lines that could not be read: their runs are made again.
  std::size_t damaged() const { return damaged_; }
  /// When the comparison was begun; empty where an older version of dasgd began it.
  const std::string& date() const { return date_; }

 private:
  void append(const std::string& line);

  std::string path_, date_;
  std::size_t found_ = 0, damaged_ = 0;
  std::mutex mutex_;  // guards the runs and the file
  std::map<std::string, ContestRun> runs_;
};

}  // namespace dasgd
