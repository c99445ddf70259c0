// What LibTorch throws, in words for people.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

#include "dasgd/core/error.hpp"

namespace dasgd::torch_adapter {

/// What LibTorch has to say about a failure, as one line without its stack.
std::string one_line(const std::exception& error);

/// Whether LibTorch, or its interpreter, could not get memory on whichever device.
bool is_out_of_memory(const std::exception& error);

/// Throws where the network cannot help it: std::bad_alloc without memory, a std::runtime_error
/// that says so for a GPU without memory, or one that is busy, lost or broken.
void throw_if_machine_failed(const std::exception& error);

/// Does `action`; what LibTorch throws becomes a std::runtime_error of one line, or std::bad_alloc
/// where it ran out of memory.
template <typename Action>
auto with_plain_errors(Action&& action) {
  try {
    return action();
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    throw_if_machine_failed(error);
    throw std::runtime_error(one_line(error));
  }
}

}  // namespace dasgd::torch_adapter
