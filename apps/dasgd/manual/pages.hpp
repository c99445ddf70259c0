// A command as a page to read.
#pragma once

#include <string>

#include "manual/command_table.hpp"

namespace dasgd::app {

/// For man(1); commands below it are on the same page, those of the program on their own.
std::string man_page(const TableCommand& command, const std::string& version);
/// For a site.
std::string markdown_page(const TableCommand& command);
/// All commands on one page, docs/command_line.md. A command that shares many options with one
/// before it lists only the others.
std::string command_line_page(const TableCommand& program);

/// "dasgd train [OPTIONS] [CONFIG.toml]"
std::string synopsis(const TableCommand& command);
/// "dasgd-train": the page of a command.
std::string page_name(const TableCommand& command);

}  // namespace dasgd::app
