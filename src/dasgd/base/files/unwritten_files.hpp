// Files that a run can do without.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "dasgd/base/files/write_all.hpp"

namespace dasgd {

/// Files that could not be written while a run goes on. Each is reported in one line, once; where
/// there is nobody to report to, it is a failure at the end. Any thread.
class UnwrittenFiles {
 public:
  using Warn = std::function<void(const std::string&)>;

  explicit UnwrittenFiles(Warn warn) : warn_(std::move(warn)) {}

  /// `what` is lost; `consequence` ends the line that begins with `why`.
  void add(const std::string& what, const std::string& why, const std::string& consequence);

  /// Calls `write`, and takes a WriteError for the loss of `what`.
  template <typename Write>
  void attempt(const std::string& what, const std::string& consequence, Write&& write) {
    try {
      write();
    } catch (const WriteError& error) {
      add(what, error.what(), consequence);
    }
  }

  /// Notes in `write` what has not been reported.
  void conclude(WriteAll& write) const;

 private:
  const Warn warn_;
  mutable std::mutex mutex_;  // guards all below
  std::map<std::string, std::string> lost_;
};

}  // namespace dasgd
