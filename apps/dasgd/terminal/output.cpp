#include "terminal/output.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <unistd.h>

namespace dasgd::app {
namespace {

// As much as standard output takes; errno says why it is not all. Whoever shares it may have made
// it non-blocking: being full for now is then an error of write, but none of ours.
ssize_t write_patiently(void*, const char* bytes, std::size_t count) {
  std::size_t done = 0;
  while (done < count) {
    const ssize_t written = ::write(STDOUT_FILENO, bytes + done, count - done);
    if (written >= 0) {
      done += static_cast<std::size_t>(written);
    } else if (errno == EAGAIN) {
      pollfd room{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  return static_cast<ssize_t>(done);
}

// The stream of the library would drop what it could not write at once.
void make_standard_output_patient() {
  FILE* const patient = ::fopencookie(nullptr, "w", {.write = write_patiently});
  if (!patient) return;
  if (::isatty(STDOUT_FILENO)) std::setvbuf(patient, nullptr, _IOLBF, BUFSIZ);
  stdout = patient;
}

}  // namespace

void secure_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    [[maybe_unused]] const int lowest = ::open("/dev/null", O_RDONLY);  // is the descriptor
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  make_standard_output_patient();
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
  const ssize_t written = write_patiently(nullptr, text.data(), text.size());
  text.remove_prefix(static_cast<std::size_t>(written));
  if (!text.empty() && errno != EPIPE) print_result_text(text);
}

void print_note_text(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace dasgd::app
