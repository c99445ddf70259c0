// dasgd: the command line. Exit status: 0 done, 1 the run failed, 2 bad usage or input, 130
// interrupted.
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <string>

#include "cli/command_line.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/settings/settings.hpp"
#include "ranks/ranks.hpp"
#include "terminal/final_error.hpp"
#include "terminal/output.hpp"

int main(int argc, char** argv) {
  using namespace dasgd;
  app::Ranks::hand_over(argv);
  app::secure_standard_streams();
  app::install_last_words();
  const auto fail = [](const std::string& what, int status) {
    app::print_note("dasgd: {}\n", what);
    return status;
  };
  try {
    const int status = app::CommandLine().run(argc, argv);
    app::require_results();
    return status;
  } catch (const InputError& error) {
    return fail(config::with_options(error.what()), app::bad_input);
  } catch (
      const std::filesystem::filesystem_error& error) {  // a path that cannot even be looked at
    return fail(fmt::format("{}: {}", error.path1().string(), error.code().message()),
                app::bad_input);
  } catch (const std::exception& error) {
    if (app::is_out_of_memory(error))
      app::say_last(app::out_of_memory);
    else
      app::say_last(config::with_options(error.what()));
    return app::run_failed;
  }
}
