#include "terminal/signals.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <signal.h>
#include <string_view>
#include <unistd.h>

#include "terminal/exit_status.hpp"

namespace dasgd::app {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  struct sigaction hang_up {};
  ::sigaction(SIGHUP, nullptr, &hang_up);
  if (hang_up.sa_handler != SIG_IGN) sigaddset(&set, SIGHUP);
  sigaddset(&set, SIGUSR1);  // also ends the watching thread
  return set;
}

void say(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

timespec time_until(std::chrono::steady_clock::time_point then) {
  using namespace std::chrono;
  const auto left = std::max(duration_cast<nanoseconds>(then - steady_clock::now()), 0ns);
  return {static_cast<time_t>(left.count() / 1'000'000'000),
          static_cast<long>(left.count() % 1'000'000'000)};
}

// Takes what has come, whenever this thread gets to see it, as one wish with the signal before.
void swallow_more(const sigset_t& set, std::stop_token end, std::chrono::milliseconds one_wish) {
  const auto until = std::chrono::steady_clock::now() + one_wish;
  for (timespec left{}; !end.stop_requested();) {
    left = time_until(until);
    if (::sigtimedwait(&set, nullptr, &left) == -1 && errno == EAGAIN) return;
  }
}

void watch(std::stop_token end, std::stop_source& run, SignalStop::Kind kind) {
  const bool on_ranks = kind == SignalStop::Kind::rank || kind == SignalStop::Kind::quiet_rank;
  const std::chrono::milliseconds one_wish(on_ranks ? 3000 : 300);
  const sigset_t set = stop_signals();
  const std::stop_callback wake(end, [self = pthread_self()] { pthread_kill(self, SIGUSR1); });
  for (int signal = 0;;) {
    if (sigwait(&set, &signal) != 0) continue;
    if (end.stop_requested()) return;
    if (run.stop_requested()) ::_exit(interrupted);
    if (kind == SignalStop::Kind::sweep)
      say("\nstopping: finished runs are kept; the same command goes on from here\n");
    else if (kind == SignalStop::Kind::alone || kind == SignalStop::Kind::rank)
      say("\nstopping: gradients on their way are still applied; once more to leave at once\n");
    run.request_stop();
    swallow_more(set, end, one_wish);
    if (end.stop_requested()) return;
  }
}

}  // namespace

SignalStop::SignalStop(Kind kind) {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this, kind](std::stop_token end) { watch(end, source_, kind); });
}

}  // namespace dasgd::app
