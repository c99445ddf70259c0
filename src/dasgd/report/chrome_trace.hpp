// trace.chrome.json: the time lines of all workers for chrome://tracing and ui.perfetto.dev.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/staleness/trace_line.hpp"

namespace dasgd::report {

/// Each run is a process and each worker a thread of it: a gradient is a slice from the start of
/// its computation to its own application, a foreign application an instant. Streams; nothing is
/// written unless there is an application.
class ChromeTrace {
 public:
  explicit ChromeTrace(std::string path) : path_(std::move(path)) {}

  /// The applications that follow belong to this run.
  void begin_run(const std::string& name);
  void add(const TraceLine& line);
  /// Gives the file its final name; false if there was nothing to write. Throws WriteError.
  bool finish();

 private:
  void event(const std::string& json);

  const std::string path_;
  std::optional<AtomicFile> file_;
  std::string run_;
  int process_ = 0;
  std::set<WorkerId> named_;  // workers of this run that have a name already
};

}  // namespace dasgd::report
