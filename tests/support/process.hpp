// Runs the dasgd binary as a person would.
#pragma once

#include <chrono>
#include <fcntl.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "support/temporary_directory.hpp"

namespace dasgd::test {

struct Outcome {
  int status = -1;  // exit status, or 128 + signal
  std::string out, err;
};

/// A shell command with its output in files. It ends with the thread that began it.
class Process {
 public:
  explicit Process(const std::string& command) {
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);
      redirect(directory_.file("out"), STDOUT_FILENO);
      redirect(directory_.file("err"), STDERR_FILENO);
      const std::string line = "exec " + command;
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
  }

  /// A test that has failed leaves nothing running.
  ~Process() {
    if (!ended_) ::kill(pid_, SIGTERM);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void signal(int number) const { ::kill(pid_, number); }

  bool has_ended() const {
    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == pid_;
  }

  /// Whether the program that the shell has become waits for something, in its first thread.
  bool sleeps() const {
    const std::string stat = read_text("/proc/" + std::to_string(pid_) + "/stat");
    return stat.find("(dasgd) S") != stat.npos;
  }

  /// What it has written so far, on both of its outputs.
  std::string said() const {
    return read_text(directory_.file("out")) + read_text(directory_.file("err"));
  }

  Outcome wait() const {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            read_text(directory_.file("out")), read_text(directory_.file("err"))};
  }

 private:
  static void redirect(const std::string& path, int descriptor) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, descriptor);
  }
  TemporaryDirectory directory_;
  pid_t pid_ = -1;
  mutable bool ended_ = false;
};

inline Outcome shell(const std::string& command) { return Process(command).wait(); }

/// Waits, for a minute at most, until `condition` holds.
template <typename Condition>
bool eventually(Condition&& condition) {
  for (int i = 0; i < 1200; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

}  // namespace dasgd::test
