#include <fstream>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

const std::string small = "simulate --model quadratic --workers 3 --gradients 30 --quiet ";

TEST_F(App, EveryRunEndsWithItsReport) {
  EXPECT_EQ(dasgd(small + "--trace --out " + out()).status, 0);
  for (const char* file : {"report.html", "charts/loss.svg", "charts/time_line.svg",
                           "trace.chrome.json", "metrics.jsonl"})
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
  EXPECT_THAT(read_text(out() + "/report.html"), HasSubstr("\"kind\":\"report\""));
  EXPECT_EQ(dasgd(small + "--no-report --out " + out()).status, 0);
  for (const char* file : {"report.html", "charts", "trace.chrome.json"})
    EXPECT_FALSE(fs::exists(out() + "/" + file)) << file;
}

TEST_F(App, ReportsOfSeveralRunsGoWhereTheyAreWanted) {
  dasgd(small + "--out " + out("a"));
  dasgd(small + "--seed 2 --out " + out("b"));
  const Outcome outcome =
      dasgd("report " + out("a") + " " + out("b") + " --out " + out("both/deep"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(out("both/deep") + "/report.html\n"));
  EXPECT_THAT(read_text(out("both/deep") + "/report.html"), HasSubstr("\"label\":\"seed 2\""));
}

TEST_F(App, ATextReportPrintsAndWritesNothing) {
  dasgd(small + "--no-report --trace --out " + out());
  const Outcome outcome = dasgd("report --text " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("quadratic, 3 workers"), HasSubstr("▁"),
                                 HasSubstr("replicas identical")));
  EXPECT_FALSE(fs::exists(out() + "/report.html"));
}

TEST_F(App, AComparisonThatHasNotFinishedIsNamedAndLeftAsItIs) {
  const std::string compare = out("compare");
  fs::create_directory(compare);
  directory.write("compare/config.toml", "model = \"quadratic\"\n");
  directory.write("compare/journal.jsonl", "{}\n");
  for (const char* command : {"report ", "report --text ", "export "}) {
    const Outcome outcome = dasgd(command + compare);
    EXPECT_EQ(outcome.status, 2) << command;
    EXPECT_THAT(outcome.err,
                HasSubstr("is a comparison that is not finished; the same command continues it"));
    EXPECT_FALSE(fs::exists(compare + "/report.html"));
  }
}

TEST_F(App, RefusesToReportWhatIsNoRun) {
  expect_refusal("report " + out(), "is not a directory");
  fs::create_directories(directory.file("empty"));
  expect_refusal("report " + directory.file("empty"), "holds no run");
  expect_refusal("report --text " + directory.file("empty"), "holds no run");
  expect_refusal("report", "report needs RUN_DIR");
  EXPECT_FALSE(fs::exists(directory.file("empty") + "/charts"));
}

TEST_F(App, DamagedFilesOfARunAreNamedAndLeftOut) {
  dasgd(small + "--no-report --out " + out());
  const std::string summary = out() + "/summary.json", whole = read_text(summary);
  for (const bool cut : {true, false}) {
    fs::remove(summary);
    if (cut)
      directory.write("run/summary.json", whole.substr(0, 200));
    else
      fs::create_directory(summary);
    const Outcome outcome = dasgd("report " + out());
    EXPECT_EQ(outcome.status, 0) << "what is there is shown";
    EXPECT_EQ(outcome.err, "dasgd: " + summary +
                               (cut ? " is not a JSON object" : " is a directory") +
                               "; it is left out\n");
    EXPECT_THAT(read_text(out() + "/report.html"), HasSubstr("it is left out"));
  }
}

TEST_F(App, AKilledRunCanStillBeReported) {
  {
    const Process process(
        command("train --model quadratic --lr 1e-5 --max-time 10min --trace "
                "--quiet --out " +
                out()));
    ASSERT_TRUE(eventually([&] {
      return fs::exists(out() + "/metrics.jsonl.partial") &&
             fs::file_size(out() + "/metrics.jsonl.partial") > 0;
    }));
    process.signal(SIGKILL);
    process.wait();
  }
  const Outcome outcome = dasgd("report " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(read_text(out() + "/report.html"), HasSubstr("has not ended properly"));
}

TEST_F(App, ATokenComesFromAFileOrTheEnvironmentAndIsNeverWritten) {
  const std::string token = "from-somewhere-0123456789";
  const std::string file = directory.write("token", token + "\n");
  const std::string train = " train --model quadratic --gradients 10 --watch 0 --out " + out();
  const auto expect_required = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("/?token=" + token)) << "required here as well";
    for (const auto& entry : fs::recursive_directory_iterator(out()))
      if (entry.is_regular_file())
        EXPECT_EQ(read_text(entry.path()).find(token), std::string::npos) << entry.path();
  };
  fs::permissions(file, fs::perms::owner_read);
  const Outcome from_file = dasgd(train + " --watch-token-file " + file);
  expect_required(from_file);
  EXPECT_EQ(from_file.err.find("other users can read"), std::string::npos);
  fs::permissions(file, fs::perms::owner_read | fs::perms::others_read);
  EXPECT_THAT(dasgd(train + " --watch-token-file " + file).err,
              HasSubstr("token: other users can read this token; protect it with chmod 600\n"));
  expect_required(shell("env DASGD_WATCH_TOKEN=" + token + " " + command(train)));
  fs::remove_all(out());
  expect_refusal(train + " --watch-token-file " + directory.write("short", "secret"),
                 "short: a token has 16 or more");
  expect_refusal(train + " --watch-token-file /no/such/file",
                 "--watch-token-file /no/such/file: No such file");
  expect_refusal(train + " --watch-token " + token + " --watch-token-file " + file, "give one");
}

TEST_F(App, RefusesToWatchWhereItCannot) {
  const std::string to = " --model quadratic --out " + out();
  expect_refusal("train --watch 99999" + to, "99999");
  expect_refusal("train --watch soon" + to, "--watch soon");
  expect_refusal("train --watch 0 --watch-address nowhere" + to, "is not an IP address");
  expect_refusal("train --watch 0 --watch-token short" + to, "16 or more");
  expect_refusal("train --watch 0 --watch-address 203.0.113.7" + to, "cannot listen on");
  expect_refusal("simulate --watch 0" + to, "--watch is an option of train, not of simulate");

  const Process first(
      command("train --model quadratic --lr 1e-5 --max-time 10min --watch 0 --out " + out("first") +
              " 2>" + directory.file("said")));
  std::string said;
  ASSERT_TRUE(eventually([&] {
    said = read_text(directory.file("said"));
    return said.find("/\n") != said.npos;
  }));
  const std::size_t colon = said.rfind(':', said.find("/\n"));
  const std::string port = said.substr(colon + 1, said.find('/', colon) - colon - 1);
  expect_refusal("train --watch " + port + to, "is in use; choose another one");
  first.signal(SIGINT);
  EXPECT_EQ(first.wait().status, 130);
}

}  // namespace
}  // namespace dasgd::test
