// dasgd: the command line. Exit status: 0 done, 1 the run failed, 2 bad usage or input, 130
// interrupted.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <signal.h>
#include <string>

#include "cli/command_line.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/settings/settings.hpp"
#include "terminal/last_words.hpp"

int main(int argc, char** argv) {
  using namespace dasgd;
  app::install_last_words();
  ::signal(SIGXFSZ,
           SIG_IGN);  // a file that may not grow is an error to report, not a reason to die
  const auto fail = [](const std::string& what, int status) {
    fmt::print(stderr, "dasgd: {}\n", what);
    return status;
  };
  try {
    const int status = app::CommandLine().run(argc, argv);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
      return fail("standard output cannot be written", app::run_failed);
    return status;
  } catch (const InputError& error) {
    return fail(config::with_options(error.what()), app::bad_input);
  } catch (
      const std::filesystem::filesystem_error& error) {  // a path that cannot even be looked at
    return fail(fmt::format("{}: {}", error.path1().string(), error.code().message()),
                app::bad_input);
  } catch (const std::exception& error) {
    app::say_last(app::is_out_of_memory(error) ? app::out_of_memory : error.what());
    return app::run_failed;
  }
}
