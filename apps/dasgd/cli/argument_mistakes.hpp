// What is wrong with arguments, in words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dasgd::app {

/// What CLI11 has to say, as one line with a suggestion.
std::string explain(const CLI::App& app, const CLI::ParseError& error);

// Checks for CLI::Option::check: what is wrong with the text, or nothing.
std::string must_be_positive(const std::string& text);
/// From 1 to 1,000.
std::string must_be_count(const std::string& text);
std::string must_be_count_or_zero(const std::string& text);
std::string must_not_be_empty(const std::string& text);

/// An option, or an argument by its name, with its placeholder and such a check.
template <typename Place>
CLI::Option* add_option(CLI::App* command, const char* name, const char* placeholder, Place& place,
                        const std::string& help,
                        std::string (*check)(const std::string&) = nullptr) {
  CLI::Option* const option = command->add_option(name, place, help)->type_name(placeholder);
  return check ? option->check(check) : option;
}

}  // namespace dasgd::app
