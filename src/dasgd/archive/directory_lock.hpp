// One process at a time in a run directory.
#pragma once

#include <string>

namespace dasgd {

/// Holds a directory until it goes away or the process does, however that ends.
class DirectoryLock {
 public:
  /// Throws InputError when another process holds it.
  explicit DirectoryLock(const std::string& path);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace dasgd
