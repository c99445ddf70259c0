#include "dasgd/report/tables/export.hpp"

#include <fstream>
#include <gtest/gtest.h>

#include "dasgd/report/tables/csv_table.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::report {
namespace {

TEST(Csv, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_field(std::string_view("ring")), "ring");
  EXPECT_EQ(csv_field(std::string_view("a,b")), "\"a,b\"");
  EXPECT_EQ(csv_field(std::string_view("say \"so\"")), "\"say \"\"so\"\"\"");
  EXPECT_EQ(csv_field(std::string_view("two\nlines")), "\"two\nlines\"");
  EXPECT_EQ(csv_field(std::string_view(" padded")), "\" padded\"");
  EXPECT_EQ(csv_field(nlohmann::ordered_json(nullptr)), "");
  EXPECT_EQ(csv_field(nlohmann::ordered_json(0.1)), "0.1");
  EXPECT_EQ(csv_field(nlohmann::ordered_json(true)), "true");
}

TEST(Export, FlattensObjectsPutsListsPerWorkerAndLeavesGapsEmpty) {
  const test::TemporaryDirectory directory;
  directory.write(
      "summary.json",
      R"({"workers":2,"seed":7,"loss":null,"certified_why":"no, \"L\"","measured":{"ratio":0.5},
                      "gradients_by_worker":[3,4],"time":[10,20],"stop_reason":"budget"})");
  directory.write("metrics.jsonl",
                  "{\"seconds\":1,\"loss\":2.5,\"inbox_by_worker\":[1,2]}\nbroken\n"
                  "{\"seconds\":2,\"accuracy\":0.5}\n");
  directory.write("config.toml", "lr = 0.5\n");
  const Exported exported = export_runs({directory.file("")}, directory.file(""));
  ASSERT_EQ(exported.files.size(), 3u);
  EXPECT_EQ(exported.runs, 1u);
  const auto text = [&](const char* file) { return test::read_text(directory.file(file)); };
  EXPECT_NE(
      text("runs.csv").find("run,seed,workers,loss,certified_why,measured.ratio,stop_reason\n"),
      std::string::npos)
      << text("runs.csv");
  EXPECT_NE(text("runs.csv").find(",7,2,,\"no, \"\"L\"\"\",0.5,budget\n"), std::string::npos)
      << text("runs.csv");
  EXPECT_EQ(text("metrics.csv").substr(0, text("metrics.csv").find('\n')),
            "run,seed,seconds,loss,accuracy");
  EXPECT_NE(text("metrics.csv").find(",7,2,,0.5\n"), std::string::npos) << text("metrics.csv");
  EXPECT_NE(text("workers.csv").find(",7,1,4,20\n"), std::string::npos) << text("workers.csv");
}

}  // namespace
}  // namespace dasgd::report
