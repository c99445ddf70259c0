#include "terminal/status_line.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dasgd/base/print_at_once.hpp"
#include "dasgd/base/units.hpp"

namespace dasgd::app {
namespace {

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string progress_bar(double done) {
  constexpr int width = 20;
  const int filled = std::clamp(static_cast<int>(done * width), 0, width);
  return "[" + std::string(filled, '#') + std::string(width - filled, '.') + "]";
}

std::string show_clock(double seconds) {
  const long whole = std::lround(seconds);
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

StatusLine::StatusLine(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

StatusLine::~StatusLine() { clear(); }

template <typename Real>
std::string StatusLine::describe(const Progress<Real>& p) {
  std::string line;
  if (p.draining) {
    line = "draining";
  } else if (p.done) {
    line = fmt::format("{} {:3.0f} %", progress_bar(*p.done), 100 * std::min(1.0, *p.done));
    if (p.seconds_left) line += "  left " + show_clock(*p.seconds_left);
  } else {
    line = "running " + show_clock(p.seconds);
  }
  if (p.loss) line += fmt::format("  loss {:.4g}", *p.loss);
  if (p.evaluation && p.evaluation->accuracy)
    line += fmt::format("  accuracy {:.4f}", *p.evaluation->accuracy);
  line += fmt::format("  {}/s", show_count(static_cast<std::uint64_t>(p.gradients_per_second)));
  return line + fmt::format("  S {:.1f} (max {})", p.S_now, p.S_max);
}

template std::string StatusLine::describe(const Progress<float>&);
template std::string StatusLine::describe(const Progress<double>&);

void StatusLine::print(const std::string& line, double seconds) {
  const std::lock_guard lock(mutex_);
  if (terminal_) {
    print_at_once("\r\033[K" + line.substr(0, terminal_width() - 1));
    shown_ = true;
  } else if (seconds >= next_plain_) {
    next_plain_ = seconds + 5;
    print_at_once(line + "\n");
  }
}

void StatusLine::say(const std::string& line) {
  const std::lock_guard lock(mutex_);
  remove();
  print_at_once(line + "\n");
}

void StatusLine::clear() {
  const std::lock_guard lock(mutex_);
  remove();
}

void StatusLine::remove() {
  if (!shown_) return;
  print_at_once("\r\033[K");
  shown_ = false;
}

}  // namespace dasgd::app
