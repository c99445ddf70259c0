// How the program ends when it cannot go on.
#pragma once

#include <exception>
#include <string_view>

namespace dasgd::app {

inline constexpr std::string_view out_of_memory =
    "out of memory; use fewer workers or a smaller model, --batch or --in-flight";

/// Whether memory, or a thread, could not be had. Needs no memory itself.
bool is_out_of_memory(const std::exception& error) noexcept;

/// Writes "dasgd: ", the first line of `what` and a newline to standard error. Needs no memory.
void say_last(std::string_view what) noexcept;

/// From now on an exception that nobody can catch (one that leaves a destructor, a thread of a
/// library, or a library that is being loaded) still ends the program with one line and status 1;
/// where asserts are on, with abort().
void install_last_words() noexcept;

}  // namespace dasgd::app
