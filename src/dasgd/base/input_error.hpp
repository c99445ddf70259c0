// The caller's mistakes.
#pragma once

#include <stdexcept>
#include <string>

#include "dasgd/base/one_line.hpp"

namespace dasgd {

/// The caller asked for something that cannot be: a bad option, file or value. The message is one
/// line, whatever was given: what, where, what to do. Settings stand in it by their key, like
/// `budget.epochs`.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& what) : std::runtime_error(one_line(what)) {}
};

}  // namespace dasgd
