// Where a run leaves its files (docs/run_directory.md).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dasgd/archive/directory_lock.hpp"

namespace dasgd {

/// A directory that holds one run. Files of an earlier run under the same name are removed first,
/// so that a directory never mixes two runs. A directory in which another process runs is refused,
/// and so is one that holds anything before any run has been there: it is not ours to write into.
class RunDirectory {
 public:
  /// Creates `path`, or runs/MODEL-TIME when it is empty. Throws InputError when it cannot be used.
  /// A resumed run that has no checkpoint yet starts over and keeps its settings.
  RunDirectory(const std::string& path, const std::string& model, bool keep_config = false);

  /// Whether runs write a file of that name beside their report and checkpoints.
  static bool writes(std::string_view name);

  /// Throws InputError where a directory that is there cannot be used, as the constructor does, and
  /// leaves it as it is. An empty path means no directory.
  static void require_usable(const std::string& path);

  /// Opens the directory of an earlier run to go on with its leg number `leg`. What that run wrote
  /// at its end is removed; its trace becomes trace.N.jsonl, N the leg before. Throws InputError.
  static RunDirectory reopen(const std::string& path, std::size_t leg);

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit RunDirectory(const std::string& path)
      : path_(path), lock_(std::make_unique<DirectoryLock>(path)) {}
  void require_ours() const;
  void require_writable() const;
  void remove_file(const std::string& name) const;
  void remove_report() const;

  std::string path_;
  std::unique_ptr<DirectoryLock> lock_;
};

/// The directory of a run that has not begun, as its step size is still searched for. A new one
/// gets config.toml at once: after a kill it says what it is, and a resume begins the run. One that
/// holds an earlier run stays as it is.
class PlannedRun {
 public:
  /// `settings` is the text of config.toml. Throws as RunDirectory does.
  PlannedRun(const std::string& path, const std::string& model, const std::string& settings);
  /// Takes away again what it wrote, unless the run has begun.
  ~PlannedRun();
  PlannedRun(const PlannedRun&) = delete;
  PlannedRun& operator=(const PlannedRun&) = delete;

  const std::string& path() const { return path_; }
  /// Leaves the directory to the run.
  void begin() { directory_.reset(); }

 private:
  const bool was_there_;
  std::optional<RunDirectory> directory_;
  const std::string path_;
};

}  // namespace dasgd
