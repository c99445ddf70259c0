#include "dasgd/base/print_at_once.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <string>
#include <string_view>
#include <termios.h>
#include <unistd.h>

namespace dasgd {
namespace {

/// Standard error goes to a descriptor until the end.
class ErrorsTo {
 public:
  explicit ErrorsTo(int descriptor) : before_(::dup(STDERR_FILENO)) {
    ::dup2(descriptor, STDERR_FILENO);
  }
  ~ErrorsTo() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  ErrorsTo(const ErrorsTo&) = delete;
  ErrorsTo& operator=(const ErrorsTo&) = delete;

 private:
  const int before_;
};

struct Ends {
  Ends() = default;
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    ::close(reading);
    ::close(writing);
  }
  /// What was written, up to `end`; a terminal passes it on in parts. For a minute at most.
  std::string read(std::string_view end) const {
    std::string text;
    char byte = 0;
    pollfd come{reading, POLLIN, 0};
    while (!text.ends_with(end) && ::poll(&come, 1, 60'000) == 1 && ::read(reading, &byte, 1) == 1)
      text += byte;
    return text;
  }
  void print(std::string_view text) const {
    const ErrorsTo here(writing);
    print_at_once(text);
  }
  int reading = -1, writing = -1;
};

struct APipe : Ends {
  APipe() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) == 0) reading = ends[0], writing = ends[1];
    ::fcntl(writing, F_SETPIPE_SZ, 4096);
  }
};

struct ATerminal : Ends {
  ATerminal() {
    reading = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (::grantpt(reading) == 0 && ::unlockpt(reading) == 0)
      writing = ::open(::ptsname(reading), O_RDWR | O_NOCTTY);
  }
};

TEST(PrintAtOnce, WritesWhatIsTaken) {
  const APipe pipe;
  pipe.print("one\n");
  EXPECT_EQ(pipe.read("\n"), "one\n");
  const ATerminal terminal;
  ASSERT_GE(terminal.writing, 0);
  terminal.print("two\n");
  EXPECT_EQ(terminal.read("\n"), "two\r\n");
}

TEST(PrintAtOnce, LeavesAFullPipeAsItIs) {
  const APipe pipe;
  pipe.print(std::string(4096, 'x'));
  pipe.print("dropped\n");
  const std::string before = pipe.read(std::string(4096, 'x'));
  pipe.print("printed\n");
  EXPECT_EQ(before + pipe.read("\n"), std::string(4096, 'x') + "printed\n");
  EXPECT_EQ(::fcntl(pipe.writing, F_GETFL) & O_NONBLOCK, 0) << "others who share it still wait";
}

TEST(PrintAtOnce, IsNotHeldUpByATerminalThatIsStopped) {
  const ATerminal terminal;
  ASSERT_EQ(::tcflow(terminal.writing, TCOOFF), 0);  // Ctrl-S
  terminal.print("dropped\n");
  ASSERT_EQ(::tcflow(terminal.writing, TCOON), 0);
  terminal.print("printed\n");
  EXPECT_EQ(terminal.read("\n"), "printed\r\n");
}

TEST(PrintAtOnce, IsNotHeldUpByATerminalWithRoomForAPartOfALine) {
  const ATerminal terminal;
  const int filling = ::open(::ptsname(terminal.reading), O_WRONLY | O_NOCTTY | O_NONBLOCK);
  while (::write(filling, "xxx", 3) > 0) continue;
  ::close(filling);
  terminal.print(std::string(10'000, 'y'));
  EXPECT_EQ(terminal.read("x"), "x");
}

}  // namespace
}  // namespace dasgd
