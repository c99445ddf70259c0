// What a shell offers while a command is typed.
#pragma once

#include <string>

#include "manual/command_table.hpp"

namespace dasgd::app {

std::string bash_completion(const TableCommand& program);
std::string zsh_completion(const TableCommand& program);
std::string fish_completion(const TableCommand& program);

}  // namespace dasgd::app
