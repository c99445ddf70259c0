// dasgd launch with programs that only behave as members do.
#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

class Launch : public App {
 protected:
  std::string launch(const std::string& options, const std::string& script) {
    return command("launch --elastic " + options + " -- sh " +
                   directory.write("worker.sh", script));
  }
};

TEST_F(Launch, TheStatusOfAWorkerIsKnownWhereTheEndOfChildrenIsIgnored) {
  const std::string line = launch("-n 1", "exit 3");
  EXPECT_EQ(shell("env --ignore-signal=CHLD " + line).status, 3);
}

TEST_F(Launch, TheOthersGoOnWhereAWorkerCannotBeReplaced) {
  const std::string go = directory.file("go");
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  fs::create_directory(out());
  std::ofstream(out() + "/worker-1.1") << "in the way";
  const Process launched(launch("-n 2 --out " + out(), R"(
    case $DASGD_MEMBER_DIR in
      *worker-1*) until [ -e )" + out() + R"(/worker-0/has-model ]; do :; done; exit 1;;
    esac
    echo 127.0.0.1:1 > $DASGD_MEMBER_DIR/address; touch $DASGD_MEMBER_DIR/has-model
    read line < )" + go + "; echo went on; exit 0"));
  EXPECT_TRUE(eventually([&] {
    return launched.has_ended() || launched.said().find("is not replaced") != std::string::npos;
  }));
  const int gate = ::open(go.c_str(), O_RDWR);
  ASSERT_EQ(::write(gate, "go\n", 3), 3);
  const Outcome outcome = launched.wait();
  ::close(gate);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("[0] went on"));
  EXPECT_THAT(outcome.err, HasSubstr("dasgd: worker 1 is not replaced: "));
}

TEST_F(Launch, AWorkerThatEndsNoLineIsHeardAllTheSame) {
  const Outcome outcome = shell(launch("-n 1", "head -c 300000 /dev/zero | tr '\\0' x"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GT(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), 'x'), 300'000);
}

}  // namespace
}  // namespace dasgd::test
