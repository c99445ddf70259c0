#include "dasgd/data/stream/line_input.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

constexpr std::size_t piece = 1 << 16, longest_line = 64 << 20;
constexpr int look_every_ms = 100;

std::array<Descriptor, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::runtime_error(std::string("cannot create a pipe: ") + std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool readable(int descriptor) {
  pollfd asked{descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) > 0;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

LineInput::LineInput(Descriptor from, std::string name, bool follows)
    : from_(std::move(from)), name_(std::move(name)), follows_(follows), bell_(make_pipe()) {}

LineInput LineInput::read(Descriptor from, const std::string& name) {
  return {std::move(from), name, false};
}

LineInput LineInput::read_standard_input() {
  Descriptor input(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  if (input.number() < 0) throw InputError("stdin: is closed; give rows on standard input");
  return {std::move(input), "stdin", false};
}

LineInput LineInput::follow(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) throw InputError(path + ": cannot be followed: " + std::strerror(errno));
  return {std::move(file), path, true};
}

std::optional<std::string_view> LineInput::next() {
  for (;;) {
    if (const auto line = buffered()) return line;
    if (ended_ || !fill()) return std::nullopt;
  }
}

std::optional<std::string_view> LineInput::buffered() {
  std::size_t end = buffer_.find('\n', searched_);
  searched_ = buffer_.size();
  const bool whole = end != buffer_.npos;
  if (!whole && !(ended_ && at_ < buffer_.size())) return std::nullopt;
  if (!whole) end = buffer_.size();  // the last line of a stream that has ended
  const auto line = std::string_view(buffer_).substr(at_, end - at_);
  at_ = searched_ = whole ? end + 1 : end;
  return line;
}

// Reads what is there now; false if that is nothing and the end has not come.
bool LineInput::fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  searched_ = buffer_.size();
  if (buffer_.size() > longest_line) throw InputError(name_ + ": has a line beyond 64 MiB");
  if (!follows_ && !readable(from_.number())) return false;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + piece);
  const ssize_t got = ::read(from_.number(), buffer_.data() + before, piece);
  const int error = errno;
  buffer_.resize(before + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got < 0 && (error == EAGAIN || error == EINTR)) return false;
  if (got < 0) throw InputError(name_ + ": cannot be read: " + std::strerror(error));
  read_ += static_cast<std::uint64_t>(got);
  if (got > 0) return true;
  if (!follows_) return ended_ = true;
  struct stat now {};
  if (::fstat(from_.number(), &now) == 0 && S_ISREG(now.st_mode) &&
      static_cast<std::uint64_t>(now.st_size) < read_)
    throw InputError(name_ + ": was truncated while it was followed");
  return false;
}

void LineInput::wait(const std::stop_token& stop) const {
  const std::stop_callback ring(
      stop, [this] { [[maybe_unused]] const auto written = ::write(bell_[1].number(), "", 1); });
  std::array<pollfd, 2> asked{{{bell_[0].number(), POLLIN, 0}, {from_.number(), POLLIN, 0}}};
  ::poll(asked.data(), follows_ ? 1 : 2, follows_ ? look_every_ms : -1);
}

}  // namespace dasgd
