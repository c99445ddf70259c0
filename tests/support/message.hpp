#pragma once

#include <exception>
#include <functional>
#include <string>

namespace dasgd::test {

/// What `action` throws, as text; empty if it does not throw an Error.
template <typename Error>
std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace dasgd::test
