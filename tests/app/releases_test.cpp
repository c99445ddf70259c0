// Runs that earlier releases have left are read by this one: what docs/formats.md promises.
#include <set>

#include "app/app.hpp"

namespace dasgd::test {
namespace {

const fs::path stored_runs = fs::path(DASGD_SOURCE_DIR) / "tests/releases";

std::vector<std::string> releases() {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(stored_runs))
    if (entry.is_directory()) names.insert(entry.path().filename());
  return {names.begin(), names.end()};
}

class Releases : public App, public ::testing::WithParamInterface<std::string> {
 protected:
  /// A copy to work in.
  std::string stored(const std::string& run) {
    fs::copy(stored_runs / GetParam() / run, out(run), fs::copy_options::recursive);
    return out(run);
  }
  std::string rows() { return stored_runs / GetParam() / "rows.csv"; }
  static json summary_of(const std::string& run) {
    return json::parse(read_text(run + "/summary.json"));
  }
};

TEST_P(Releases, TracesAreAudited) {
  for (const char* name : {"threads", "simulated"}) {
    const std::string run = stored(name);
    const Outcome outcome = dasgd("check --json " + run);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json checked = json::parse(outcome.out);
    EXPECT_TRUE(checked["ok"]);
    EXPECT_EQ(checked["S_avg"], summary_of(run)["S_avg"]);
    EXPECT_EQ(checked["gradients"], summary_of(run)["gradients"]);
  }
}

TEST_P(Releases, CheckpointsAreResumed) {
  const std::string run = stored("threads");
  const Outcome outcome = dasgd("train --resume " + run + " --gradients 60 --quiet");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(summary_of(run)["gradients"], 120);
  EXPECT_EQ(summary_of(run)["resumed"]["gradients"], 80);
  EXPECT_EQ(summary_of(run)["lost"], 0);
}

TEST_P(Releases, CheckpointsWithRuleStateAreResumed) {
  const std::string run = stored("softmax");
  const Outcome outcome =
      dasgd("train --resume " + run + " --data " + rows() + " --total-gradients 60 --quiet");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_GE(summary_of(run)["gradients"], 60);
  EXPECT_GE(summary_of(run)["resumed"]["gradients"], 40);
}

TEST_P(Releases, RunsAreReportedExportedAndPredictedFrom) {
  const std::string threads = stored("threads"), softmax = stored("softmax");
  EXPECT_EQ(dasgd("report " + threads + " " + softmax + " --out " + out("page")).status, 0);
  EXPECT_TRUE(fs::exists(out("page") + "/report.html"));
  EXPECT_EQ(dasgd("export " + threads + " " + softmax + " --out " + out("tables")).status, 0);
  const Outcome answers = dasgd("predict " + softmax + " " + rows());
  EXPECT_EQ(answers.status, 0) << answers.err;
  EXPECT_THAT(answers.out, ::testing::StartsWith("row,prediction,p_big,p_small\n"));
}

TEST_P(Releases, ConfigFilesAreRead) {
  const std::string run = stored("simulated");
  const Outcome outcome = dasgd("simulate " + run + "/config.toml --quiet --out " + out("again"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(summary_of(out("again"))["gradients"], summary_of(run)["gradients"]);
}

INSTANTIATE_TEST_SUITE_P(Stored, Releases, ::testing::ValuesIn(releases()), [](const auto& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace dasgd::test
