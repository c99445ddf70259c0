#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dasgd/core/error.hpp"
#include "dasgd/report/charts/charts.hpp"
#include "dasgd/report/page/page.hpp"
#include "dasgd/report/page/write_report.hpp"
#include "dasgd/report/text.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::message_of;
using test::read_text;
using test::TemporaryDirectory;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* page = R"(<script id="dasgd-data">"DASGD_DATA"</script>)";

/// A run of two workers as it stands in its directory.
class Reports : public ::testing::Test {
 protected:
  std::string make_run(const std::string& name, int workers = 2) {
    const std::string path = directory.file(name);
    fs::create_directories(path);
    write(path, "config.toml",
          "model = \"quadratic\"\nworkers = " + std::to_string(workers) +
              "\nlr = 0.5\n[topology]\nkind = \"ring\"\n[pace]\nslow = [\"1:2\"]\n");
    write(path, "summary.json",
          R"({"workers":2,"gradients":3,"lost":0,"duplicated":0,"replicas_identical":true,)"
          R"("replica_digest":"xxh3-128:ab","S_avg":0.5,"S_max":2,"stop_reason":"budget",)"
          R"("gradients_by_worker":[2,1],"samples":3,"samples_per_second":3.5,"loss":0.25,)"
          R"("wall_seconds":1.5,"limits":[{"name":"certified","eta":0.7,"status":"proved"}]})");
    write(
        path, "metrics.jsonl",
        R"({"seconds":0.5,"gradients":1,"applications":2,"samples":1,"loss":0.9,"S_now":1,"inbox_depth":1,"gradients_by_worker":[1,0]})"
        "\n"
        R"({"seconds":1.5,"gradients":3,"applications":6,"samples":3,"loss":0.3,"S_now":0,"inbox_depth":4,"gradients_by_worker":[2,1]})"
        "\n");
    write(
        path, "trace.jsonl",
        R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":0,"origin_step":0,"time":1000,"start":0,"S":0,"S_hat":0})"
        "\n"
        R"({"ev":"apply","worker":1,"step":0,"origin":0,"seq":0,"origin_step":0,"time":1500,"S":2,"S_hat":null})"
        "\n");
    return path;
  }
  void write(const std::string& path, const std::string& name, const std::string& text) {
    std::ofstream(path + "/" + name) << text;
  }
  static json data_of(const std::string& html) {
    const std::size_t from = html.find('{'), to = html.rfind('}');
    return json::parse(html.substr(from, to - from + 1));
  }

  TemporaryDirectory directory;
};

TEST(LimitsOf, ARunAreCalledProvedOnlyWhereTheProofCoversIt) {
  const auto of = [](const json& more) {
    nlohmann::ordered_json summary{{"certified_eta", 0.2}, {"a_priori_eta", 0.1},
                                   {"noise", false},       {"fixed_step", true},
                                   {"look_ahead", {0, 0}}, {"noncausal_applications", 0}};
    for (const auto& [key, value] : more.items()) summary[key] = value;
    const auto limits = limits_of(summary);
    return limits.at(0).status + "; " + limits.at(1).status;
  };
  EXPECT_EQ(of({}), "proved for this L; proved for this L");
  EXPECT_EQ(of({{"fixed_step", false}}), "proved only for plain SGD; proved only for plain SGD");
  EXPECT_THAT(of({{"look_ahead", {0, 0.5}}}), HasSubstr("; proved only without look-ahead"));
  EXPECT_THAT(of({{"members", 2}}), HasSubstr("; proved only for a fixed set of workers"));
  EXPECT_EQ(of({{"noise", true}, {"sampling", "own"}}),
            "proved only without noise; proved for independent draws");
  EXPECT_THAT(of({{"noise", true}, {"sampling", "independent"}}), HasSubstr("; proved for this L"));
  EXPECT_THAT(of({{"noise", true}, {"sampling", "independent"}, {"noncausal_applications", 1}}),
              HasSubstr("; proved only for causal delivery"));
}

TEST_F(Reports, AWholeRunBecomesAPageChartsAndAChromeTrace) {
  const std::string run = make_run("run");
  const auto files = write_report({run}, run, page);
  EXPECT_EQ(files.front(), run + "/report.html");
  EXPECT_EQ(files.back(), run + "/trace.chrome.json");
  for (const char* chart :
       {"loss", "staleness", "histogram", "inbox", "rates", "heat_map", "time_line", "step_size"}) {
    const std::string svg = read_text(run + "/charts/" + chart + ".svg");
    EXPECT_THAT(svg, HasSubstr("<svg")) << chart;
    EXPECT_THAT(svg, HasSubstr("</svg>")) << chart;
    EXPECT_THAT(svg, Not(HasSubstr("nan"))) << chart;
  }
  const json data = data_of(read_text(run + "/report.html"));
  const json& shown = data["runs"][0];
  EXPECT_EQ(shown["config"]["topology.kind"], "ring");
  EXPECT_EQ(shown["config"]["pace.slow"][0], "1:2");
  EXPECT_EQ(shown["metrics"]["loss"]["mean"], json({0.9, 0.3}));
  EXPECT_EQ(shown["trace"]["heat"]["max"][1][0], 2);
  EXPECT_EQ(shown["summary"]["limits"][0]["name"], "certified");
  EXPECT_TRUE(shown["notes"].empty());
}

TEST_F(Reports, StalenessIsOneLineWhereNothingIsAppliedInBetween) {
  const std::string run = make_run("run");
  write(
      run, "trace.jsonl",
      R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":0,"origin_step":0,"time":1000,"start":0,"S":0,"S_hat":0})"
      "\n"
      R"({"ev":"apply","worker":1,"step":0,"origin":0,"seq":0,"origin_step":0,"time":900000,"S":2,"S_hat":2})"
      "\n");
  write_report({run}, run, page);
  EXPECT_THAT(read_text(run + "/charts/staleness.svg"),
              ContainsRegex("<polyline points=\"[0-9.]+,[0-9.]+ [0-9.]+,[0-9.]+ \""));
}

TEST_F(Reports, TheChromeTraceIsWhatPerfettoReads) {
  const std::string run = make_run("run");
  write_report({run, make_run("other")}, directory.path(), page);
  const json trace = json::parse(read_text(directory.file("trace.chrome.json")));
  std::vector<std::string> phases;
  std::set<int> processes;
  for (const json& event : trace["traceEvents"]) {
    phases.push_back(event["ph"]);
    processes.insert(event["pid"].get<int>());
    EXPECT_TRUE(event.contains("tid"));
  }
  EXPECT_EQ(processes.size(), 2u);  // one for each run
  EXPECT_EQ(std::count(phases.begin(), phases.end(), "X"), 2);
  EXPECT_EQ(std::count(phases.begin(), phases.end(), "i"), 2);
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "X") {
      EXPECT_EQ(event["ts"], 0.0);
      EXPECT_EQ(event["dur"], 1.0);  // microseconds
    }
}

TEST_F(Reports, AKilledRunIsShownAsFarAsItGoes) {
  const std::string run = make_run("run");
  fs::remove(run + "/summary.json");
  fs::rename(run + "/metrics.jsonl", run + "/metrics.jsonl.partial");
  fs::rename(run + "/trace.jsonl", run + "/trace.jsonl.partial");
  std::ofstream(run + "/trace.jsonl.partial", std::ios::app) << R"({"ev":"apply","wor)";
  const report::Run shown = read_run(run);
  EXPECT_FALSE(shown.ended);
  EXPECT_EQ(shown.metrics.rows().size(), 2u);
  EXPECT_EQ(shown.trace->applications(), 2u);
  EXPECT_THAT(shown.notes, ElementsAre(HasSubstr("metrics.jsonl is unfinished"),
                                       HasSubstr("trace.jsonl is unfinished"),
                                       HasSubstr("trace.jsonl: 1 lines cannot be read"),
                                       HasSubstr("has not ended properly")));
  EXPECT_THAT(to_text(shown), HasSubstr("has not ended properly"));
  EXPECT_FALSE(charts({&shown, 1}).empty());
}

TEST_F(Reports, FilesNestedWithoutEndAreLeftOut) {
  const std::string run = make_run("run");
  std::string deep, dots = "a";
  for (int k = 0; k < 200'000; ++k) deep += "{\"a\":";
  for (int k = 0; k < 50'000; ++k) dots += ".a";
  write(run, "summary.json", deep + "1" + std::string(200'000, '}'));
  write(run, "advice.json", deep);
  write(run, "config.toml", dots + " = 1");
  std::ofstream(run + "/metrics.jsonl", std::ios::app) << deep << 1 << std::string(200'000, '}');
  std::ofstream(run + "/trace.jsonl", std::ios::app) << deep << 1 << std::string(200'000, '}');
  write_report({run}, run, page);
  EXPECT_THAT(read_run(run).notes, ElementsAre(HasSubstr("config.toml cannot be read: line 1"),
                                               HasSubstr("summary.json is not a JSON object"),
                                               HasSubstr("advice.json is not a JSON object"),
                                               HasSubstr("metrics.jsonl: 1 lines cannot be read"),
                                               HasSubstr("trace.jsonl: 1 lines cannot be read"),
                                               HasSubstr("has not ended properly")));
}

TEST_F(Reports, AnInterruptedRunSaysSo) {
  const std::string run = make_run("run");
  write(run, "summary.json", R"({"stop_reason":"interrupted"})");
  EXPECT_THAT(read_run(run).notes, ElementsAre(HasSubstr("ended early (interrupted)")));
}

TEST_F(Reports, ReadASummaryWhoseTextsAreSomethingElse) {
  const std::string run = make_run("a");
  write(run, "summary.json",
        R"({"gradients":3,"stop_reason":null,"replica_digest":7,"evaluated_part":null})");
  EXPECT_THAT(to_text(read_run(run)), HasSubstr("loss"));
}

TEST_F(Reports, WhatIsNoRunIsRefused) {
  const auto refusal = [&](const std::string& path) {
    return message_of<InputError>([&] { read_run(path); });
  };
  EXPECT_THAT(refusal(directory.file("none")), HasSubstr("is not a directory"));
  fs::create_directories(directory.file("empty"));
  EXPECT_THAT(refusal(directory.file("empty")), HasSubstr("holds no run"));
  EXPECT_THAT(refusal(directory.write("file", "x")), HasSubstr("is not a directory"));
}

TEST_F(Reports, DamagedFilesAreNotedAndTheRestIsShown) {
  const std::string run = make_run("run");
  write(run, "summary.json", "[1, 2");
  write(run, "config.toml", "model = ");
  write(run, "metrics.jsonl", "garbage\n{\"seconds\":1}\n[]\n");
  write(run, "trace.jsonl", "{}\n");
  const report::Run shown = read_run(run);
  EXPECT_FALSE(shown.trace);
  EXPECT_EQ(shown.metrics.rows().size(), 1u);
  EXPECT_THAT(shown.notes, ElementsAre(HasSubstr("config.toml cannot be read"),
                                       HasSubstr("summary.json is not a JSON object"),
                                       HasSubstr("metrics.jsonl: 2 lines"),
                                       HasSubstr("has not ended properly")));
}

TEST_F(Reports, ALineWithTheLargestNumbersCostsNoMoreThanAnother) {
  const std::string run = make_run("run");
  write(
      run, "trace.jsonl",
      R"({"ev":"apply","worker":4294967294,"step":0,"origin":4294967294,"seq":0,"origin_step":0,"time":9223372036854775807,"start":0,"S":18446744073709551615})"
      "\n"
      R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":0,"origin_step":0,"time":-9223372036854775808,"start":9,"S":1})"
      "\n");
  const auto written = write_report({run}, run, page);
  EXPECT_GT(written.size(), 2u);
  const report::Run shown = read_run(run);
  EXPECT_EQ(shown.trace->applications(), 1u) << "no time is negative";
  EXPECT_THAT(to_text(shown), HasSubstr("|S| from 0 to 18446744073709551615"));
}

TEST_F(Reports, RunsSideBySideAreLabelledByWhatDiffers) {
  std::vector<report::Run> runs{read_run(make_run("a", 2)), read_run(make_run("b", 4))};
  label_by_difference(runs);
  EXPECT_EQ(runs[0].label, "workers 2");
  EXPECT_EQ(runs[1].label, "workers 4");
  std::vector<report::Run> same{read_run(make_run("a")), read_run(make_run("b"))};
  label_by_difference(same);
  EXPECT_EQ(same[0].label, "a");
  EXPECT_EQ(same[1].label, "b");
}

TEST_F(Reports, NothingInARunCanBecomeMarkup) {
  const std::string run = make_run("run");
  write(run, "config.toml", "model = \"</script><script>alert(1)</script>\"\n");
  write_report({run}, run, page);
  const std::string html = read_text(run + "/report.html");
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_EQ(data_of(html)["runs"][0]["config"]["model"], "</script><script>alert(1)</script>");
}

TEST_F(Reports, WithoutAPageTheRestIsStillWritten) {
  const std::string run = make_run("run");
  const auto files = write_report({run}, run, "");
  EXPECT_FALSE(fs::exists(run + "/report.html"));
  EXPECT_TRUE(fs::exists(run + "/charts/loss.svg"));
  EXPECT_EQ(files.back(), run + "/trace.chrome.json");
}

TEST_F(Reports, GradientsOfAWorkerAreThoseOfAllLegs) {
  MetricsSeries series;
  const auto made_at = [&](double seconds, std::vector<double> made) {
    series.add(json{{"seconds", seconds}, {"gradients_by_worker", std::move(made)}});
    return series.rows().back().gradients_by_worker;
  };
  made_at(1, {30, 10});
  made_at(2, {60, 20});
  EXPECT_THAT(made_at(3, {5, 25}), ElementsAre(65, 45)) << "resumed";
  EXPECT_THAT(made_at(4, {9, 40, 7}), ElementsAre(69, 60, 7));
  EXPECT_THAT(made_at(5, {1, 0}), ElementsAre(70, 60)) << "resumed again";
}

TEST_F(Reports, LongMetricsKeepTheirMinimaAndMaxima) {
  MetricsSeries series(16);
  for (int k = 0; k < 1000; ++k)
    series.add({{"seconds", k * 0.1},
                {"gradients", k},
                {"loss", k == 617 ? 99.0 : 1.0},
                {"inbox_by_worker", {k == 313 ? 50 : 0, 1}}});
  EXPECT_LE(series.rows().size(), 16u);
  double most = 0, inbox = 0, lines = 0;
  for (const MetricsRow& row : series.rows()) {
    most = std::max(most, row.values[0]->most);
    inbox = std::max(inbox, row.inbox_by_worker[0]);
    lines += row.lines;
  }
  EXPECT_EQ(most, 99);
  EXPECT_EQ(inbox, 50);
  EXPECT_EQ(lines, 1000);
  EXPECT_EQ(series.rows().back().gradients, 999);
}

TEST_F(Reports, WhatALoopHasLoggedIsACurveByItsName) {
  MetricsSeries series(16);
  for (int k = 0; k < 40; ++k) {
    RunFigures figures{.seconds = k * 0.5};
    if (k % 4 == 0) figures.own["learning rate"] = 0.1 * k;
    for (int extra = 0; k == 20 && extra < 40; ++extra)
      figures.own["name " + std::to_string(extra)] = 1;
    series.add(figures);
  }
  ASSERT_TRUE(series.add(
      nlohmann::json::parse(R"({"seconds": 20, "own": {"learning rate": 9, "x": "y"}})")));
  EXPECT_EQ(series.own_names().size(), MetricsSeries::most_own_names) << "pages stay small";
  EXPECT_EQ(series.own_names().front(), "learning rate");
  report::Run run;
  run.metrics = series;
  const auto own = to_json(run)["metrics"]["own"]["learning rate"];
  EXPECT_EQ(own["mean"].size(), series.rows().size());
  double most = 0;
  for (const auto& value : own["max"])
    if (value.is_number()) most = std::max(most, value.get<double>());
  EXPECT_EQ(most, 9);
}

TEST(Sparkline, RisesWithItsValues) {
  EXPECT_EQ(sparkline(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(std::vector<double>{5, 5}, 8), "▁▁");
  EXPECT_EQ(sparkline(std::vector<double>{0, std::nan(""), 7}, 8), "▁ █");
  EXPECT_EQ(sparkline(std::vector<double>{}, 8), "");
  EXPECT_EQ(sparkline(std::vector<double>(1000, 1), 2), "▁▁");
}

TEST_F(Reports, TheTextHasFiguresCurvesAndTheAudit) {
  const std::string text = to_text(read_run(make_run("run")));
  for (const char* part :
       {"quadratic, 2 workers, ring graph, lr 0.5", "after 1.50 s: the budget is used up",
        "loss 0.25", "lost 0, duplicated 0, replicas identical", "histogram", "█▁  0.9 to 0.3"})
    EXPECT_THAT(text, HasSubstr(part));
}

// A member whose run did not end together with that of others has compared nothing.
TEST_F(Reports, ReplicasDifferOnlyWhereDigestsDo) {
  const std::string path = make_run("run");
  const auto replicas = [&](const std::string& facts) {
    write(path, "summary.json",
          R"({"workers":2,"gradients":3,"lost":0,"duplicated":0)" + facts + "}");
    const std::string text = to_text(read_run(path));
    const std::size_t at = text.find("replicas ");
    return text.substr(at, text.find('\n', at) - at);
  };
  const std::string no = R"(,"replicas_identical":false)";
  EXPECT_EQ(replicas(no), "replicas DIFFER");
  EXPECT_EQ(replicas(no + R"(,"digest_of_all":["a","a","b"])"), "replicas DIFFER");
  EXPECT_EQ(replicas(no + R"(,"digest_of_all":[])"), "replicas NOT known to be identical");
  EXPECT_EQ(replicas(no + R"(,"digest_of_all":["a","a"])"), "replicas NOT known to be identical");
  EXPECT_EQ(replicas(R"(,"replicas_identical":null)"), "replicas not compared");
  EXPECT_EQ(replicas(""), "replicas not compared");
}

}  // namespace
}  // namespace dasgd::report
