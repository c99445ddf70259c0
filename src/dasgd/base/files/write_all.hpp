// Writing what a run leaves behind although a part of it cannot be written.
#pragma once

#include <exception>
#include <string>
#include <vector>

#include "dasgd/base/files/atomic_file.hpp"

namespace dasgd {

/// Writes one thing after the other, the most precious first: a failure keeps nothing that follows
/// from being written, and is reported at the end.
class WriteAll {
 public:
  /// Calls `write`. What it throws is kept.
  template <typename Write>
  void operator()(const std::string& what, Write&& write) {
    try {
      write();
    } catch (...) {
      note(what, std::current_exception());
    }
  }

  /// Throws a WriteError that says in one line what is missing and why, if anything is; `failure`,
  /// what the run itself ended with, stands in front. Else throws `failure`, where there is one.
  void conclude(std::exception_ptr failure = nullptr) const;

 private:
  void note(const std::string& what, std::exception_ptr failure);

  std::vector<std::string> missing_;
  std::string why_;
};

}  // namespace dasgd
