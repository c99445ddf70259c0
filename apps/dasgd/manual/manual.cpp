#include "manual/manual.hpp"

#include <filesystem>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/run_summary.hpp"
#include "manual/completion.hpp"
#include "manual/pages.hpp"
#include "terminal/exit_status.hpp"

namespace dasgd::app {
namespace {

namespace fs = std::filesystem;

void write_below(const fs::path& directory, const std::string& name, const std::string& text) {
  std::error_code failed;
  fs::create_directories(directory, failed);
  if (failed) throw InputError(directory.string() + ": " + failed.message());
  write_file((directory / name).string(), text);
}

// The program, then its commands: each has a page.
std::vector<const TableCommand*> with_a_page(const TableCommand& program) {
  std::vector<const TableCommand*> commands{&program};
  for (const TableCommand& command : program.commands) commands.push_back(&command);
  return commands;
}

}  // namespace

int manual_command(const CLI::App& program, const std::string& share) {
  const TableCommand table = command_table(program);
  const fs::path root = share;
  for (const TableCommand* command : with_a_page(table))
    write_below(root / "man/man1", page_name(*command) + ".1", man_page(*command, version()));
  write_below(root / "bash-completion/completions", "dasgd", bash_completion(table));
  write_below(root / "zsh/vendor-completions", "_dasgd", zsh_completion(table));
  write_below(root / "fish/vendor_completions.d", "dasgd.fish", fish_completion(table));
  return done;
}

int manual_as_markdown_command(const CLI::App& program, const std::string& directory) {
  const TableCommand table = command_table(program);
  for (const TableCommand* command : with_a_page(table))
    write_below(directory, page_name(*command) + ".md", markdown_page(*command));
  write_below(directory, "command_line.md", command_line_page(table));
  return done;
}

}  // namespace dasgd::app
