// The caller's mistakes.
#pragma once

#include <stdexcept>

namespace dasgd {

/// The caller asked for something that cannot be: a bad option, file or value. The message is one
/// line: what, where, what to do. Settings stand in it by their key, like `budget.epochs`.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace dasgd
