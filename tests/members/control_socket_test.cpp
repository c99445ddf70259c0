// Where commands of this machine reach a member.
#include "dasgd/members/control_socket.hpp"

#include <boost/asio/io_context.hpp>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "support/temporary_directory.hpp"

namespace {

int masks_set = 0;

}  // namespace

// Instead of that of the C library.
mode_t umask(mode_t mask) noexcept {
  ++masks_set;
  return static_cast<mode_t>(::syscall(SYS_umask, mask));
}

namespace dasgd::members {
namespace {

class ControlSocketTest : public ::testing::Test {
 protected:
  /// A visitor that has come.
  int connect() {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    come(socket, path);
    return socket;
  }
  static void come(int socket, const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  std::string answer_to(int socket) {
    EXPECT_EQ(::send(socket, "status\n", 7, MSG_NOSIGNAL), 7);
    char text[64] = {};
    ssize_t got = -1;
    for (int turn = 0; turn < 600 && got < 0; ++turn) {
      context.run_for(std::chrono::milliseconds(20));
      got = ::recv(socket, text, sizeof text - 1, MSG_DONTWAIT);
    }
    return std::string(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  }

  test::TemporaryDirectory directory;
  const std::string path = directory.file("control");
  boost::asio::io_context context{1};
  ControlSocket control_socket{context, path,
                               [](const std::string& line) { return "you said " + line; }};
};

TEST_F(ControlSocketTest, IsForItsOwnerAlone) {
  struct stat found {};
  ASSERT_EQ(::stat(path.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
}

// It belongs to the process: files that other threads make meanwhile would get other rights.
TEST(ControlSocketMask, IsNotChangedByOneThatOpens) {
  ::umask(::umask(0));
  ASSERT_EQ(std::exchange(masks_set, 0), 2);
  const test::TemporaryDirectory directory;
  boost::asio::io_context context{1};
  const ControlSocket opened(context, directory.file("control"),
                             [](const std::string&) { return ""; });
  EXPECT_EQ(masks_set, 0);
}

TEST_F(ControlSocketTest, OpensAgainWhenThereAreDescriptorsAgain) {
  // A sanitizer that looks at the type of `this` needs a descriptor.
  boost::asio::io_context& io = context;
  const std::string& there = path;
  const int early = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  io.poll();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  const rlimit none{static_cast<rlim_t>(next), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  come(early, there);
  for (int turn = 0; turn < 10; ++turn) io.run_for(std::chrono::milliseconds(20));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(answer_to(early), "you said status\n");
  const int late = connect();
  EXPECT_EQ(answer_to(late), "you said status\n");
  ::close(early);
  ::close(late);
}

}  // namespace
}  // namespace dasgd::members
