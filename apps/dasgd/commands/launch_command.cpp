#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "commands/commands.hpp"
#include "commands/launch_directory.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/core/error.hpp"
#include "terminal/children.hpp"
#include "terminal/exit_status.hpp"
#include "terminal/signals.hpp"
#include "terminal/worker_lines.hpp"

namespace dasgd::app {
namespace {

// What the launcher on this machine says of itself; empty if there is none.
std::string version_of_mpirun() {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen("mpirun --version 2>/dev/null", "r"),
                                                   ::pclose);
  char line[256] = {};
  return pipe && std::fgets(line, sizeof(line), pipe.get()) ? line : "";
}

// Workers may be more than cores and move between them.
std::vector<std::string> mpirun(const LaunchRequest& request) {
  const std::string version = version_of_mpirun();
  if (version.empty())
    throw InputError("launch starts workers with mpirun, which was not found; install openmpi-bin");
  std::vector<std::string> all{"mpirun", "-n", std::to_string(request.workers)};
  if (version.find("Open MPI") != std::string::npos)
    all.insert(all.end(), {"--oversubscribe", "--bind-to", "none"});
  return all;
}

// A worker may have ended, and its number be another's.
bool is_of_launch(pid_t process, const LaunchDirectory& place) {
  const std::string all = text_of_file(fmt::format("/proc/{}/environ", process));
  return all.find(fmt::format("DASGD_LAUNCH={}", place.path().string())) != all.npos;
}

// Not by way of mpirun, which kills them a second later. False where not all have begun.
bool interrupt_workers(const LaunchDirectory& place, std::size_t workers) {
  std::vector<pid_t> processes;
  for (std::size_t k = 0; k < workers; ++k) {
    std::ifstream file(place.path() / fmt::format("{}.pid", k));
    if (pid_t process = 0; file >> process) processes.push_back(process);
  }
  if (processes.size() < workers) return false;
  for (const pid_t process : processes)  // with what it has started, where it leads a group
    if (is_of_launch(process, place))
      ::kill(::getpgid(process) == process ? -process : process, SIGINT);
  return true;
}

// What mpirun passes on it tears apart in the middle of lines, so workers write into pipes of ours.
int with_marked_lines(const LaunchRequest& request, std::vector<std::string> command) {
  Children children;  // before any thread
  const LaunchDirectory place;
  WorkerLines lines;
  for (std::size_t k = 0; k < request.workers; ++k) {
    lines.open(k, false, place.path() / fmt::format("{}.out", k));
    lines.open(k, true, place.path() / fmt::format("{}.err", k));
  }
  command.insert(command.end(), {"sh", "-c",
                                 "rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$PMIX_RANK}}; "
                                 "export DASGD_LAUNCH=\"$0\"; echo $$ >\"$0/$rank.pid\"; "
                                 "exec \"$@\" >\"$0/$rank.out\" 2>\"$0/$rank.err\"",
                                 place.path().string()});
  command.insert(command.end(), request.program.begin(), request.program.end());
  SignalStop signals(SignalStop::Kind::launch);
  children.start(0, command, {STDOUT_FILENO, STDERR_FILENO}, SIGTERM);
  int status = done;
  bool stop_sent = false;
  while (children.running() > 0) {
    lines.pass_on(100);
    if (signals.token().stop_requested() && !std::exchange(stop_sent, true) &&
        !interrupt_workers(place, request.workers))
      children.signal_all(SIGINT);
    for (const auto& ended : children.wait(std::chrono::milliseconds(0))) status = ended.status;
  }
  lines.finish();
  return stop_sent ? interrupted : status;
}

}  // namespace

int launch_command(const LaunchRequest& request) {
  ::setenv("OMP_NUM_THREADS", "1", 0);   // one worker, one core
  ::setenv("PYTHONUNBUFFERED", "1", 0);  // lines come when they are printed
  if (request.elastic || !request.listen.empty() || !request.join.empty())
    return launch_members(request);
  if (!request.token_file.empty() || !request.out.empty() || !request.advertise.empty() ||
      request.gone_after)
    throw InputError(
        "--token-file, --out, --advertise and --gone-after belong to elastic runs: --elastic, "
        "--listen or --join");
  std::vector<std::string> all = mpirun(request);
  if (::geteuid() == 0) {  // the usual user in containers
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  }
  if (!request.bare) return with_marked_lines(request, std::move(all));
  all.insert(all.end(), request.program.begin(), request.program.end());
  std::vector<char*> argv;
  for (std::string& one : all) argv.push_back(one.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());  // signals and statuses are then its own
  throw std::runtime_error(fmt::format("mpirun cannot be started: {}", std::strerror(errno)));
}

}  // namespace dasgd::app
