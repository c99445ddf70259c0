// A program that is started, disturbed and waited for.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace dasgd::soak {

/// The words of a command as a shell takes them.
std::string as_typed(const std::vector<std::string>& words);

/// A child with its output in files. It is killed, at the latest, when this object or this process
/// goes away.
class Child {
 public:
  Child(std::vector<std::string> words, const std::string& output);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal(int number);
  /// Its exit status, or 128 + the signal that ended it; nothing if it still runs after `limit`.
  std::optional<int> wait(std::chrono::milliseconds limit);

 private:
  pid_t pid_;
  std::optional<int> status_;
};

}  // namespace dasgd::soak
