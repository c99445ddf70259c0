#include "terminal/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <signal.h>
#include <stdexcept>
#include <unistd.h>

namespace dasgd::app {

void secure_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    [[maybe_unused]] const int lowest = ::open("/dev/null", O_RDONLY);  // is the descriptor
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

void print_result_text(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stdout);  // the stream remembers a failure
}

void require_results() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw std::runtime_error("standard output cannot be written");
}

// Past the stream, which remembers every failure.
void offer_text(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EPIPE) return;
    if (written < 0 && errno != EINTR) return print_result_text(text);
    text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

void print_note_text(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace dasgd::app
