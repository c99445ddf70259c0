#include "terminal/signals.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <signal.h>
#include <string_view>
#include <unistd.h>

#include "dasgd/base/print_at_once.hpp"
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

std::string_view message_of(SignalStop::Kind kind) {
  switch (kind) {
    case SignalStop::Kind::sweep:
      return "\nstopping: finished runs are kept; the same command continues from here\n";
    case SignalStop::Kind::launch:
      return "\nstopping: waiting for the workers; press Ctrl-C again to quit at once\n";
    case SignalStop::Kind::alone:
    case SignalStop::Kind::rank:
      return "\nstopping: finishing what has begun; press Ctrl-C again to quit at once\n";
    case SignalStop::Kind::quiet_rank:
    case SignalStop::Kind::silent:
      return "";
  }
  return "";
}

using Clock = std::chrono::steady_clock;

timespec time_until(Clock::time_point then) {
  using namespace std::chrono;
  const auto left = std::max(duration_cast<nanoseconds>(then - Clock::now()), 0ns);
  return {static_cast<time_t>(left.count() / 1'000'000'000),
          static_cast<long>(left.count() % 1'000'000'000)};
}

// The next signal, 0 if none comes until then.
int next_signal(const sigset_t& set, Clock::time_point until) {
  while (true) {
    const timespec left = time_until(until);
    if (const int signal = ::sigtimedwait(&set, nullptr, &left); signal > 0) return signal;
    if (errno == EAGAIN) return 0;
  }
}

std::chrono::milliseconds longest_stop() {
  const char* const seconds = std::getenv("DASGD_STOP_LIMIT");
  return std::chrono::seconds(seconds ? std::clamp(std::atoi(seconds), 0, 1'000'000) : 600);
}

void watch(std::stop_token end, std::stop_source& run, SignalStop::Kind kind) {
  const bool on_ranks = kind == SignalStop::Kind::rank || kind == SignalStop::Kind::quiet_rank;
  const std::chrono::milliseconds one_wish(on_ranks ? 3000 : 300), limit = longest_stop();
  const sigset_t set = stop_signals();
  const std::stop_callback wake(end, [self = pthread_self()] { pthread_kill(self, SIGUSR1); });
  int signal = 0;
  while (sigwait(&set, &signal) != 0) {
  }
  if (signal == SIGUSR1 && end.stop_requested()) return;
  run.request_stop();
  print_at_once(message_of(kind));
  const auto since = Clock::now();
  // What has come, whenever this thread gets to see it, is one wish with the signal before.
  while (!end.stop_requested() && next_signal(set, since + std::min(one_wish, limit)) != 0) {
  }
  if (end.stop_requested()) return;
  const bool once_more = next_signal(set, since + limit) != 0;
  if (end.stop_requested()) return;
  if (!once_more)
    print_at_once(
        "dasgd: the stop took too long; written files are kept, and --resume continues a run with "
        "checkpoints\n");
  ::_exit(interrupted);
}

}  // namespace

SignalStop::SignalStop(Kind kind) {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::jthread([this, kind](std::stop_token end) { watch(end, source_, kind); });
}

}  // namespace dasgd::app
