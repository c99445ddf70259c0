#include <csignal>
#include <map>
#include <sstream>
#include <vector>

#include "app/app.hpp"
#include "support/tiny_idx.hpp"

namespace dasgd::test {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields{""};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<std::map<std::string, std::string>> table_at(const std::string& path) {
  std::istringstream file(read_text(path));
  std::string line;
  std::getline(file, line);
  const auto names = fields_of(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(file, line)) {
    const auto fields = fields_of(line);
    rows.emplace_back();
    for (std::size_t k = 0; k < fields.size(); ++k) rows.back()[names.at(k)] = fields[k];
  }
  return rows;
}

class Sweeping : public App {
 protected:
  void SetUp() override {
    write_tiny_idx(directory);
    directory.write("base.toml",
                    "model = \"softmax\"\ndata = \"" + directory.file("") +
                        "\"\nbatch = 8\n[budget]\ntotal_gradients = 60\n[pace]\n"
                        "compute = \"lognormal:50ms:0.5\"\n[evaluation]\nevery = \"500ms\"\n");
  }
  std::string base() { return directory.file("base.toml"); }
  std::string sweep(const std::string& to, const std::string& more = "") {
    return "sweep " + base() + " --vary lr=1e-2..1:log:3 --vary workers=1,3 --seeds 2 --jobs 2 " +
           more + " --out " + out(to);
  }
  std::size_t finished(const std::string& name) {
    std::size_t count = 0;
    std::error_code error;
    for (const auto& run : fs::directory_iterator(out(name) + "/runs", error))
      count += fs::exists(run.path() / "summary.json") ? 1 : 0;
    return count;
  }
};

TEST_F(Sweeping, RunsEverySettingWithEverySeed) {
  const Outcome outcome = dasgd(sweep("all"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("swept 12 runs"));
  const auto rows = table_at(out("all") + "/runs.csv");
  ASSERT_EQ(rows.size(), 12u);
  const std::string first = out("all") + "/runs/" + rows[0].at("run");
  const json summary = json::parse(read_text(first + "/summary.json"));
  EXPECT_TRUE(fs::exists(first + "/config.toml"));
  for (const auto& [key, value] : summary.items()) {
    if (!value.is_number()) continue;
    EXPECT_EQ(std::stod(rows[0].at(key)), value.get<double>()) << key;
  }
  EXPECT_EQ(rows[0].at("lr"), "0.01");
  EXPECT_EQ(rows[0].at("workers"), "1");
  EXPECT_EQ(rows[0].at("seed"), "1");
  EXPECT_EQ(rows[1].at("seed"), "2");
  EXPECT_NE(rows[0].at("loss"), rows[1].at("loss"));
  EXPECT_EQ(rows[11].at("lr"), "1");
  EXPECT_EQ(rows[11].at("workers"), "3");
  const auto moments = table_at(out("all") + "/metrics.csv");
  EXPECT_GT(moments.size(), 12u * 20);
  EXPECT_EQ(moments.back().at("lr"), "1");
  EXPECT_EQ(table_at(out("all") + "/workers.csv").size(), 6u * 1 + 6u * 3);
}

// Kill it whenever: what is finished is kept, and what comes out is what would have come out.
TEST_F(Sweeping, GoesOnAfterBeingKilledTwiceWithTheSameTables) {
  ASSERT_EQ(dasgd(sweep("whole", "--quiet")).status, 0);
  for (const std::size_t enough : {2u, 6u}) {
    const Process process(command(sweep("killed", "--quiet")));
    ASSERT_TRUE(eventually([&] { return finished("killed") >= enough || process.has_ended(); }));
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait().status, 128 + SIGKILL);
  }
  const std::string run = out("killed") + "/runs/lr=0.01,workers=1,seed=1/summary.json";
  ASSERT_TRUE(fs::exists(run));
  const auto made = fs::last_write_time(run);
  const Outcome outcome = dasgd(sweep("killed"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("of 12 runs are finished already"));
  EXPECT_EQ(fs::last_write_time(run), made);
  for (const char* name : {"whole", "killed"})
    ASSERT_EQ(dasgd("export --no-wall-time " + out(name)).status, 0);
  for (const char* table : {"/runs.csv", "/metrics.csv", "/workers.csv"})
    EXPECT_EQ(read_text(out("killed") + table), read_text(out("whole") + table)) << table;
}

TEST_F(Sweeping, StopsCleanlyOnCtrlC) {
  const Process process(
      command("sweep --model quadratic --lr 1e-5 --gradients 100000000 --vary workers=2,3 --out " +
              out("stopped")));
  ASSERT_TRUE(eventually([&] { return fs::exists(out("stopped") + "/runs/workers=2,seed=1"); }));
  process.signal(SIGINT);
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.status, 130) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("finished runs are kept"));
  const Outcome exported = dasgd("export " + out("stopped"));
  EXPECT_EQ(exported.status, 0);
  EXPECT_THAT(exported.err, HasSubstr("2 of 2 runs are not finished"));
}

TEST_F(Sweeping, KeepsRunsThatDivergeAndGoesOn) {
  const Outcome outcome =
      dasgd("sweep --model quadratic --workers 2 --gradients 100 --vary lr=0.001,1000 --out " +
            out("steps"));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ContainsRegex("diverged +1"));
  const auto rows = table_at(out("steps") + "/runs.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at("stop_reason"), "diverged");
}

TEST_F(Sweeping, KeysThatVaryTogetherHaveDotsAndATableInText) {
  ASSERT_EQ(dasgd("sweep --model quadratic --gradients 50 --vary lr+rule=0.01+sgd,0.001+adam "
                  "--vary workers=1,2 --seeds 2 --quiet --out " +
                  out("both"))
                .status,
            0);
  EXPECT_THAT(read_text(out("both") + "/charts/at_the_end.svg"), HasSubstr("<circle"));
  const Outcome text = dasgd("report --text " + out("both"));
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("Sweep of lr, rule, workers"), HasSubstr("final loss"),
                              ContainsRegex("0.001 +adam +2 +2 +0 +[^\n]* ± ")));
}

TEST_F(Sweeping, TrainsOnThreadsAsWell) {
  const Outcome outcome =
      dasgd("sweep " + base() + " --engine threads --seed 5 --vary batch=4,16 " +
            "--workers 2 --seeds 2 --compute 100us --out " + out("real"));
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto rows = table_at(out("real") + "/runs.csv");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].at("seed"), "5");
  EXPECT_EQ(rows[0].count("virtual_seconds"), 0u);
  EXPECT_EQ(read_text(out("real") + "/sweep.json").find("simulate"), std::string::npos);
}

TEST_F(Sweeping, FindsItsEngineInTheBase) {
  directory.write("engine.toml", "engine = \"threads\"\nmodel = \"quadratic\"\n");
  const std::string with = " --vary lr=0.001 --total-gradients 4 --out ";
  ASSERT_EQ(dasgd("sweep " + directory.file("engine.toml") + with + out("a")).status, 0);
  EXPECT_EQ(json::parse(read_text(out("a") + "/sweep.json"))["engine"], "threads");
  ASSERT_EQ(dasgd("sweep " + base() + with + out("b")).status, 0);
  EXPECT_EQ(json::parse(read_text(out("b") + "/sweep.json"))["engine"], "simulate");
}

TEST_F(Sweeping, NamesRunsThatFailAndEndsWithStatus1) {
  const Outcome outcome = dasgd("sweep " + base() + " --vary data=" + directory.file("") +
                                ",/none/such --out " + out("some"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("data=_none_such,seed=1: "), HasSubstr("1 of 2 runs failed")));
  EXPECT_EQ(table_at(out("some") + "/runs.csv").size(), 1u);
}

TEST_F(Sweeping, RefusesWhatItCannotMeanBeforeAnythingRuns) {
  const std::string to = " --out " + out();
  expect_refusal("sweep " + base() + " --vary wrokers=1" + to, "did you mean \"workers\"?");
  expect_refusal("sweep " + base() + " --vary workers=1,0" + to, "workers = 0");
  expect_refusal("sweep " + base() + " --vary topology.kind=ring,torus:2x2 --workers 3" + to,
                 "torus");
  expect_refusal("sweep " + base() + " --vary lr=0.1 --lr 0.2" + to, "leave --lr 0.2 out");
  expect_refusal("sweep " + base() + " --vary seed=1,2 --seeds 3" + to, "give one of them");
  expect_refusal("sweep " + base() + " --vary lr=0.1 --vary lr=0.2" + to, "varied already");
  expect_refusal("sweep " + base() + " --engine thraeds" + to, "did you mean \"threads\"?");
  expect_refusal("sweep " + base() + " --engine threads --latency 1ms" + to,
                 "not an option of train");
  expect_refusal("sweep none.toml" + to, "none.toml: is not a file");
  expect_refusal("sweep --model softmax --data -" + to, "streams are for dasgd train");
  EXPECT_EQ(dasgd("sweep " + base()).status, 2);
}

TEST_F(Sweeping, RefusesADirectoryOfSomethingElse) {
  const std::string vary = "sweep --model quadratic --total-gradients 5 --vary lr=0.001 --out ";
  EXPECT_THAT(dasgd(vary + directory.file("")).err, HasSubstr("do not belong to a sweep"));
  ASSERT_EQ(dasgd(vary + out("a")).status, 0);
  EXPECT_THAT(dasgd(vary + out("a") + " --gradients 6").err, HasSubstr("another base"));
  EXPECT_THAT(dasgd(vary + out("a") + " --vary batch=1,2").err, HasSubstr("other keys"));
  EXPECT_EQ(dasgd(vary + out("a") + " --seeds 2").status, 0);  // more of the same
  EXPECT_EQ(table_at(out("a") + "/runs.csv").size(), 2u);
}

TEST_F(Sweeping, AStepThatIsFoundByEveryRunIsAskedForByEveryRun) {
  ASSERT_EQ(dasgd("sweep --model quadratic --gradients 20 --vary lr=proved,0.001 --out " + out("a"))
                .status,
            0);
  const auto rows = table_at(out("a") + "/runs.csv");
  EXPECT_EQ(rows[0].at("lr"), "proved");
  EXPECT_TRUE(fs::exists(out("a") + "/runs/lr=proved,seed=1/advice.json"));
  EXPECT_FALSE(fs::exists(out("a") + "/runs/lr=0.001,seed=1/advice.json"));
}

TEST_F(Sweeping, ExportTakesSingleRunsAndDistinguishesThem) {
  const std::string simulate = "simulate --model quadratic --gradients 30 --lr 0.001 --quiet ";
  ASSERT_EQ(dasgd(simulate + "--workers 2 --out " + out("a")).status, 0);
  ASSERT_EQ(dasgd(simulate + "--workers 3 --topology ring --out " + out("b")).status, 0);
  ASSERT_EQ(dasgd("export " + out("a")).status, 0);
  EXPECT_EQ(table_at(out("a") + "/runs.csv").size(), 1u);
  ASSERT_EQ(dasgd("export " + out("a") + " " + out("b") + " --out " + out("both")).status, 0);
  const auto rows = table_at(out("both") + "/runs.csv");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at("topology.kind"), "ring");
  EXPECT_EQ(rows[1].count("lr"), 0u);
  EXPECT_EQ(dasgd("export " + directory.file("")).status, 2);
  EXPECT_EQ(dasgd("export " + out("none")).status, 2);
}

}  // namespace
}  // namespace dasgd::test
