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

/// Writes to PATH.partial and renames it to PATH at the end. Throws WriteError.
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
  /// Makes the file durable under its final name.
  void commit();

  const std::string& path() const { return path_; }
  std::string partial_path() const { return path_ + ".partial"; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  [[noreturn]] void fail() const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  bool committed_ = false;
};

/// Writes a whole file at once.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace dasgd
