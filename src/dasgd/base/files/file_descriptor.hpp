// An open file, closed when it goes out of scope.
#pragma once

#include <unistd.h>

namespace dasgd {

class FileDescriptor {
 public:
  /// Negative: the file could not be opened.
  explicit FileDescriptor(int number) : number_(number) {}
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int operator*() const { return number_; }

 private:
  const int number_;
};

}  // namespace dasgd
