// The program where its terminal, pipes and disks are not what they should be.
#include <fcntl.h>
#include <fstream>
#include <string>
#include <unistd.h>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

class Streams : public App {
 protected:
  Outcome run(const std::string& options, const std::string& redirections) {
    return shell("bash -c '" +
                 command("train --model quadratic --lr 1e-4 --gradients 2000 --out ") + out() +
                 " " + options + " " + redirections + "'");
  }
  /// Everything is there, and nothing in it that belongs elsewhere.
  void expect_whole_run(const std::string& how) {
    EXPECT_TRUE(fs::exists(out() + "/summary.json")) << how;
    EXPECT_TRUE(fs::exists(out() + "/model.npy")) << how;
    std::ifstream metrics(out() + "/metrics.jsonl");
    for (std::string line; std::getline(metrics, line);)
      EXPECT_TRUE(json::accept(line)) << how << ": " << line;
    fs::remove_all(out());
  }
};

TEST_F(Streams, ARunOutlivesWhoeverReadsIt) {
  for (const char* pipe : {"2>&1 | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}",
                           "2>&1 | true; exit ${PIPESTATUS[0]}", "| true; exit ${PIPESTATUS[0]}"}) {
    EXPECT_EQ(run("--slow 0:2", pipe).status, 0) << pipe;
    expect_whole_run(pipe);
  }
}

TEST_F(Streams, ProgressThatCannotBePrintedIsNoFailure) {
  for (const char* broken : {"2>/dev/full", "2>&-", "<&-", "<&- 2>&-"}) {
    EXPECT_EQ(run("", broken).status, 0) << broken;
    expect_whole_run(broken);
  }
}

TEST_F(Streams, AResultThatCannotBePrintedIsAFailureAfterEverythingIsSaved) {
  for (const std::string broken :
       {">/dev/full", ">&-", "<&- >&-", ">/dev/full 2>&-", "<&- >&- 2>&-", ">/dev/full 2>/dev/full",
        "| true; exit ${PIPESTATUS[0]}"})
    for (const std::string options : {"", "--json"}) {
      const bool races = broken.starts_with("|");  // a reader that goes may yet be there
      const Outcome outcome = run(options, broken);
      if (!races) EXPECT_EQ(outcome.status, 1) << options << broken;
      if (!races && broken.find("2>") == broken.npos)
        EXPECT_EQ(outcome.err, "dasgd: standard output cannot be written\n") << options << broken;
      expect_whole_run(broken);
    }
}

TEST_F(Streams, AQuietRunHasNothingToPrint) {
  for (const char* broken : {">/dev/full", ">&-"}) {
    EXPECT_EQ(run("--quiet", broken).status, 0) << broken;
    expect_whole_run(broken);
  }
}

TEST_F(Streams, AMistakeHasItsStatusWhereItCannotBeReported) {
  for (const char* broken : {" 2>/dev/full", " 2>&-", " >&- 2>&-"}) {
    EXPECT_EQ(dasgd("train --wrokers 3" + std::string(broken)).status, 2) << broken;
    EXPECT_EQ(dasgd("check /no/such/trace" + std::string(broken)).status, 2) << broken;
  }
  for (const char* asks : {"--help", "data list", "train --help"})
    EXPECT_EQ(dasgd(std::string(asks) + " >/dev/full").status, 1) << asks;
}

TEST_F(Streams, ASimulationOutlivesThemToo) {
  for (const std::string broken : {" 2>/dev/full", " >/dev/full", " <&- 2>&-", " >&-",
                                   " --crash 1:1ms >/dev/full", " --quiet >/dev/full"}) {
    const bool says_nothing = broken.find(" >") == broken.npos || broken.starts_with(" --quiet");
    EXPECT_EQ(dasgd("simulate --model quadratic --gradients 20 --out " + out() + broken).status,
              says_nothing ? 0 : 1)
        << broken;
    EXPECT_TRUE(fs::exists(out() + "/summary.json")) << broken;
    fs::remove_all(out());
  }
  EXPECT_EQ(
      dasgd("simulate --model quadratic --gradients 20 --json --out " + out() + " >&-").status, 1);
  EXPECT_TRUE(fs::exists(out() + "/summary.json"));
}

/// A pipe whose writers get an error when it is full instead of having to wait.
class ImpatientPipe {
 public:
  ImpatientPipe() {
    if (::pipe2(ends_, O_NONBLOCK) != 0) throw std::runtime_error("no pipe can be made");
    ::fcntl(writing_end(), F_SETPIPE_SZ, 4096);
    while (::write(writing_end(), ".", 1) > 0) {
    }
  }
  ~ImpatientPipe() {
    for (const int end : ends_) ::close(end);
  }
  int writing_end() const { return ends_[1]; }
  /// Takes out what is in it by now.
  std::string read() const {
    std::string all, page(4096, ' ');
    for (ssize_t n; (n = ::read(ends_[0], page.data(), page.size())) > 0;)
      all.append(page, 0, static_cast<std::size_t>(n));
    return all;
  }

 private:
  int ends_[2];
};

TEST_F(Streams, APipeThatIsFullForNowIsWaitedFor) {
  const std::string run = "train --model quadratic --gradients 20 --no-report --out " + out() + " ";
  for (const auto& [arguments, last] :
       {std::pair(std::string("train --help"), "\n"),
        {run + "--json", "}\n"},
        {run + "--listen 127.0.0.1:0", "replicas identical (1 of 1)\n"}}) {
    const ImpatientPipe pipe;
    const std::string to_pipe = " >&" + std::to_string(pipe.writing_end());
    const Process process("bash -c 'exec " + command(arguments) + to_pipe + "'");
    // Nothing is taken out before it sleeps: of these, only the help does so for no other reason.
    EXPECT_TRUE(eventually([&] { return process.sleeps() || process.has_ended(); }));
    std::string said;
    EXPECT_TRUE(eventually([&] { return said += pipe.read(), process.has_ended(); })) << arguments;
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, 0) << arguments << ": " << outcome.err;
    EXPECT_THAT(said + pipe.read(), ::testing::EndsWith(last)) << arguments;
  }
}

}  // namespace
}  // namespace dasgd::test
