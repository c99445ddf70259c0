#include "soak/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace dasgd::soak {
namespace {

void redirect_to(const std::string& path, int descriptor) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(file, descriptor);
}

}  // namespace

std::string as_typed(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = word.find_first_of(" |;&'\"\\$*<>()") == std::string::npos;
    line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
  }
  return line;
}

Child::Child(std::vector<std::string> words, const std::string& output) : pid_(::fork()) {
  if (pid_ < 0) throw std::runtime_error("no process can be started");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  redirect_to("/dev/null", STDIN_FILENO);
  redirect_to(output + ".out", STDOUT_FILENO);
  redirect_to(output + ".err", STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

Child::~Child() {
  if (status_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::signal(int number) {
  if (!status_) ::kill(pid_, number);
}

std::optional<int> Child::wait(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!status_) {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (std::chrono::steady_clock::now() >= end) {
      return std::nullopt;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  return status_;
}

}  // namespace dasgd::soak
