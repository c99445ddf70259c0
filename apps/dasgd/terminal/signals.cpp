#include "terminal/signals.hpp"

#include <chrono>
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
  sigaddset(&set, SIGUSR1);  // also ends the watching thread
  return set;
}

void say(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void watch(std::stop_token end, std::stop_source& run, SignalStop::Kind kind) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds one_wish(3);  // what signals of a launcher mean together
  Clock::time_point first{};
  const sigset_t set = stop_signals();
  const std::stop_callback wake(end, [self = pthread_self()] { pthread_kill(self, SIGUSR1); });
  for (int signal = 0;;) {
    if (sigwait(&set, &signal) != 0) continue;
    if (end.stop_requested()) return;
    if (run.stop_requested()) {
      if (kind == SignalStop::Kind::alone || Clock::now() - first > one_wish) ::_exit(130);
      continue;
    }
    first = Clock::now();
    if (kind != SignalStop::Kind::quiet_rank)
      say("\nstopping: gradients on their way are still applied; once more to leave at once\n");
    run.request_stop();
  }
}

}  // namespace

SignalStop::SignalStop(Kind kind) {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this, kind](std::stop_token end) { watch(end, source_, kind); });
}

}  // namespace dasgd::app
