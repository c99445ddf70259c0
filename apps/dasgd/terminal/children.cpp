#include "terminal/children.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/exit_status.hpp"

namespace dasgd::app {
namespace {

sigset_t child_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  return set;
}

// Between fork and exec: only what may be called there.
[[noreturn]] void become(char* const* arguments, Children::Streams streams, int last_signal,
                         pid_t parent) {
  ::setpgid(0, 0);  // Ctrl-C on the terminal is for the parent, which passes it on
  ::prctl(PR_SET_PDEATHSIG, last_signal);
  if (::getppid() != parent) ::_exit(127);  // it was gone before that
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(streams.out < 0 ? nothing : streams.out, STDOUT_FILENO);
  ::dup2(streams.err < 0 ? nothing : streams.err, STDERR_FILENO);
  ::execvp(arguments[0], arguments);
  const char* const why = std::strerror(errno);
  for (const char* text :
       {static_cast<const char*>(arguments[0]), ": cannot be started: ", why, "\n"})
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
  ::_exit(127);
}

}  // namespace

Children::Children() {
  ::signal(SIGCHLD, SIG_DFL);  // where it is ignored, nobody hears how a child ended
  const sigset_t set = child_signal();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Children::~Children() {
  signal_all(SIGKILL);
  for (const auto& [pid, job] : jobs_) ::waitpid(pid, nullptr, 0);
}

void Children::start(std::size_t job, const std::vector<std::string>& command, Streams streams,
                     int last_signal) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(arguments.data(), streams, last_signal, parent);
  if (child < 0)
    throw std::runtime_error(std::string("cannot start another process: ") + std::strerror(errno));
  ::setpgid(child, child);  // whoever of the two comes first
  jobs_.emplace(child, job);
}

std::vector<Children::Ended> Children::wait(std::chrono::milliseconds at_most) {
  const auto take = [this] {
    std::vector<Ended> ended;
    for (auto at = jobs_.begin(); at != jobs_.end();) {
      int status = 0;
      const pid_t ended_one = ::waitpid(at->first, &status, WNOHANG);
      if (ended_one == 0) {
        ++at;
        continue;
      }
      ended.push_back({at->second, ended_one < 0       ? run_failed
                                   : WIFEXITED(status) ? WEXITSTATUS(status)
                                                       : 128 + WTERMSIG(status)});
      at = jobs_.erase(at);
    }
    return ended;
  };
  auto ended = take();
  if (!ended.empty()) return ended;
  const sigset_t set = child_signal();
  const timespec time{at_most.count() / 1000, at_most.count() % 1000 * 1'000'000};
  ::sigtimedwait(&set, nullptr, &time);
  return take();
}

void Children::signal_all(int signal) const {
  for (const auto& [pid, job] : jobs_) ::kill(pid, signal);
}

void Children::signal_groups(int signal) const {
  for (const auto& [pid, job] : jobs_) ::kill(-pid, signal);
}

}  // namespace dasgd::app
