#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "commands/commands.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd::app {
namespace {

// What the launcher on this machine says of itself; empty if there is none.
std::string version_of_mpirun() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen("mpirun --version 2>/dev/null", "r"),
                                                   ::pclose);
  char line[256] = {};
  return pipe && std::fgets(line, sizeof(line), pipe.get()) ? line : "";
}

// Every worker's lines begin with its rank; workers may be more than cores and move between them.
std::vector<std::string> arguments(const LaunchRequest& request) {
  const std::string version = version_of_mpirun();
  if (version.empty())
    throw InputError("launch starts workers with mpirun, which is not here; install openmpi-bin");
  std::vector<std::string> all{"mpirun", "-n", std::to_string(request.workers)};
  if (version.find("Open MPI") != std::string::npos) {
    all.insert(all.end(), {"--oversubscribe", "--bind-to", "none"});
    if (!request.bare) all.push_back("--tag-output");
  } else if (!request.bare) {
    all.push_back("-prepend-rank");
  }
  all.insert(all.end(), request.program.begin(), request.program.end());
  return all;
}

}  // namespace

int launch_command(const LaunchRequest& request) {
  ::setenv("OMP_NUM_THREADS", "1", 0);  // one worker, one core
  if (request.elastic || !request.listen.empty() || !request.join.empty())
    return launch_members(request);
  if (!request.token_file.empty() || !request.out.empty())
    throw InputError(
        "--token-file and --out belong to elastic runs: --elastic, --listen or --join");
  std::vector<std::string> all = arguments(request);
  if (::geteuid() == 0) {  // in containers that is who one is
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  }
  std::vector<char*> argv;
  for (std::string& one : all) argv.push_back(one.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());  // signals and statuses are then its own
  throw std::runtime_error(fmt::format("mpirun cannot be started: {}", std::strerror(errno)));
}

}  // namespace dasgd::app
