// The writing end of a pipe, for whoever reads lines as they come.
#pragma once

#include <string>
#include <unistd.h>

namespace dasgd::test {

class Pipe {
 public:
  Pipe() { ok_ = ::pipe(ends_) == 0; }
  ~Pipe() { close(); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  /// To be closed by whoever takes it.
  int reading_end() const { return ends_[0]; }
  bool write(const std::string& text) const {
    return ok_ && ::write(ends_[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }
  void close() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
  bool ok_ = false;
};

}  // namespace dasgd::test
