// Standard output and standard error, which may be closed, full, or a pipe that nobody reads.
#pragma once

#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace dasgd::app {

/// Descriptors 0, 1 and 2 that are closed are opened on /dev/null, so that no file of a run takes
/// their numbers and gets what is meant for a terminal; writing to them still fails. From now on a
/// pipe or file that takes no more is an error of the write and no signal, and a pipe that is only
/// full for now is waited for, also where it is non-blocking. To be called before anything else is
/// opened.
void secure_standard_streams();

/// A result that was asked for, to standard output. Never throws: require_results reports a
/// failure.
void print_result_text(std::string_view text) noexcept;
/// What a run says of itself on standard output, and has written elsewhere: the same, but whoever
/// has stopped reading (`| head`) has seen enough.
void offer_text(std::string_view text) noexcept;
/// Throws std::runtime_error if something could not be written to standard output.
void require_results();

/// For a person, to standard error. Whether it can be written changes nothing.
void print_note_text(std::string_view text) noexcept;

template <typename... Values>
void print_result(fmt::format_string<Values...> text, Values&&... values) {
  print_result_text(fmt::format(text, std::forward<Values>(values)...));
}
template <typename... Values>
void print_note(fmt::format_string<Values...> text, Values&&... values) {
  print_note_text(fmt::format(text, std::forward<Values>(values)...));
}

}  // namespace dasgd::app
