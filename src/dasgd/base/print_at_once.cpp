#include "dasgd/base/print_at_once.hpp"

#include <algorithm>
#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dasgd {
namespace {

// A terminal may have room for a part of a line only, and other processes may fill a pipe: only a
// write that is not to wait never does. Whoever shares the descriptor still waits.
int open_without_waiting() {
  struct stat kind {};
  const bool may_fill = ::fstat(STDERR_FILENO, &kind) == 0 &&
                        (S_ISFIFO(kind.st_mode) || ::isatty(STDERR_FILENO) == 1);
  if (!may_fill) return -1;
  return ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

void print_at_once(std::string_view text) noexcept {
  const int own = open_without_waiting(), out = own < 0 ? STDERR_FILENO : own;
  while (!text.empty()) {
    pollfd room{out, POLLOUT, 0};
    if (::poll(&room, 1, 20) != 1) break;
    // A pipe has room for so much, or for nothing.
    const auto written = ::write(out, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written <= 0) break;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (own >= 0) ::close(own);
}

}  // namespace dasgd
