// Files that appear whole or not at all.
#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dasgd {

/// The world failed while a file was being written: full disk, lost permission. The message names
/// the file.
class WriteError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a file is called until it is whole, and what a killed process leaves of it.
inline constexpr std::string_view partial_ending = ".partial";
inline std::string partial_path(const std::string& path) {
  return path + std::string(partial_ending);
}

/// Writes to PATH.partial and renames it to PATH at the end. What an earlier process left under
/// that name is replaced if it is a plain file of the same user; anything else there, a link above
/// all, is not touched and not followed. A device or a pipe at PATH stays what it is and is written
/// to straight: nothing takes the place of /dev/null. Throws WriteError.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  /// Removes the partial file unless it was committed.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  /// Hands what was written so far to the system, so that others can read along.
  void flush();
  /// Writes `bytes` and hands them to the system. Where that fails, the file is what it was before:
  /// it may be tried again, and the file can still be committed.
  void append(std::string_view bytes);
  /// Makes the file durable under its final name: its bytes, and its place in the directory. Fails
  /// if anything before has.
  void commit();

  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail();

  std::string path_;
  const bool straight_;  // into what is there
  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;  // the first errno
  bool committed_ = false;
};

/// Writes a whole file at once.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace dasgd
