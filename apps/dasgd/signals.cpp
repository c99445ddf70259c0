#include "signals.hpp"

#include <signal.h>
#include <string_view>
#include <unistd.h>

namespace dasgd::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

void say(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void watch(std::stop_token end, std::stop_source& run) {
  const sigset_t set = stop_signals();
  const timespec tick{0, 100'000'000};
  while (!end.stop_requested()) {
    const int signal = sigtimedwait(&set, nullptr, &tick);
    if (signal < 0) continue;
    if (run.stop_requested()) ::_exit(130);
    say("\nstopping: gradients on their way are still applied; once more to leave at once\n");
    run.request_stop();
  }
}

}  // namespace

SignalStop::SignalStop() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this](std::stop_token end) { watch(end, source_); });
}

}  // namespace dasgd::app
