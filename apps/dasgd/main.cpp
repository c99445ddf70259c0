// dasgd: the command line. Exit status: 0 done, 1 the run failed, 2 bad usage or input, 130
// interrupted.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <signal.h>
#include <string>

#include "command_line.hpp"
#include "dasgd/core/error.hpp"

int main(int argc, char** argv) {
  using namespace dasgd;
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
    return fail(error.what(), app::bad_input);
  } catch (
      const std::filesystem::filesystem_error& error) {  // a path that cannot even be looked at
    return fail(fmt::format("{}: {}", error.path1().string(), error.code().message()),
                app::bad_input);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; use fewer workers or a smaller model, --batch or --in-flight",
                app::run_failed);
  } catch (const std::exception& error) {
    return fail(error.what(), app::run_failed);
  }
}
