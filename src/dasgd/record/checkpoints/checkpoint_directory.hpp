// The checkpoints of one run: the last few, the newest that is good.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/record/checkpoints/checkpoint.hpp"

namespace dasgd {

/// A directory of files checkpoint-NNNNNN.dasgd, numbered in order of writing. Used by one process
/// at a time.
class CheckpointDirectory {
 public:
  /// How many are kept: a damaged one must leave another to go back to.
  static constexpr std::size_t kept = 3;

  /// Neither creates nor reads anything yet.
  explicit CheckpointDirectory(std::string path) : path_(std::move(path)) {}

  /// Writes the next file, whole or not at all, then removes all but the last few. Throws
  /// WriteError.
  void save(const Checkpoint& checkpoint);

  /// The newest that can be read. `refuse` gets, in one line with the file's name, what is wrong
  /// with each newer one.
  std::optional<Checkpoint> newest_good(
      const std::function<void(const std::string&)>& refuse) const;

  /// The files that are there, oldest first, good or not.
  std::vector<std::string> files() const;

  /// Removes all checkpoints, and what a killed process left half-written.
  void clear();

 private:
  struct File {
    std::uint64_t number;
    std::string path;
  };
  std::vector<File> list() const;

  const std::string path_;
};

}  // namespace dasgd
