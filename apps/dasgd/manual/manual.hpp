// The manual: everything that is written from the table of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace dasgd::app {

/// Writes man pages and completions where a system looks for them below its directory `share`:
/// man/man1, bash-completion/completions, zsh/vendor-completions, fish/vendor_completions.d.
/// Creates directories. Returns the exit status; throws InputError for a directory that cannot be.
int manual_command(const CLI::App& program, const std::string& share);

/// Writes a page in Markdown for each command, for a site.
int manual_as_markdown_command(const CLI::App& program, const std::string& directory);

}  // namespace dasgd::app
