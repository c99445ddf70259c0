#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <thread>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/npy.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/record/summary_check.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "support/file_size_limit.hpp"
#include "support/message.hpp"
#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

namespace fs = std::filesystem;
using test::read_text;
using ::testing::HasSubstr;

class Record : public ::testing::Test {
 protected:
  test::TemporaryDirectory directory;
};

TEST_F(Record, AnAtomicFileAppearsWholeOrNotAtAll) {
  const std::string path = directory.file("a");
  {
    AtomicFile file(path);
    file.write("half");
    file.flush();
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_TRUE(fs::is_empty(directory.path())) << "an uncommitted file leaves nothing behind";
  write_file(path, "whole");
  EXPECT_EQ(read_text(path), "whole");
  EXPECT_FALSE(fs::exists(path + ".partial"));
}

TEST_F(Record, APipeStaysOne) {
  const std::string pipe = directory.file("pipe"), link = directory.file("link");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, link);
  for (const std::string& path : {pipe, link}) {
    std::jthread writer([&] { write_file(path, "through it"); });
    EXPECT_EQ(read_text(path), "through it");
    writer.join();
    EXPECT_TRUE(fs::is_fifo(path));
  }
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(test::message_of<WriteError>([&] { write_file("/dev/full", "x"); }),
              HasSubstr("/dev/full: cannot be written: No space left"));
}

TEST_F(Record, AWriteErrorNamesTheFile) {
  EXPECT_THAT(test::message_of<WriteError>([&] { write_file(directory.file("no/such/dir"), "x"); }),
              HasSubstr("no/such/dir: cannot be written: No such file"));
  const test::FileSizeLimit full(3);
  EXPECT_THAT(test::message_of<WriteError>([&] { write_file(directory.file("full"), "four"); }),
              HasSubstr("full: cannot be written: File too large"));
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST_F(Record, AFileOfWhichSomethingIsMissingIsNeverCommitted) {
  AtomicFile file(directory.file("a"));
  {
    const test::FileSizeLimit full(3);
    file.write("four");
    EXPECT_THROW(file.flush(), WriteError);
  }
  EXPECT_THROW(file.commit(), WriteError) << "there is room again, but not for what was lost";
  EXPECT_FALSE(fs::exists(directory.file("a")));
}

TEST_F(Record, APartialFileReplacesWhatAKilledProcessLeftAndFollowsNoLink) {
  const std::string path = directory.file("a");
  directory.write("a.partial", "left by a killed process, and longer");
  write_file(path, "new");
  EXPECT_EQ(read_text(path), "new");
  const std::string precious = directory.write("precious", "of somebody else");
  for (const std::string& target : {precious, directory.file("dangling")}) {
    fs::create_symlink(target, path + ".partial");
    EXPECT_THAT(
        test::message_of<WriteError>([&] { write_file(path, "newer"); }),
        HasSubstr("a.partial is in the way and does not belong to an earlier run; remove it"));
    EXPECT_TRUE(fs::is_symlink(path + ".partial")) << "what is not ours is not touched";
    fs::remove(path + ".partial");
  }
  EXPECT_EQ(read_text(path), "new");
  EXPECT_EQ(read_text(precious), "of somebody else");
  EXPECT_FALSE(fs::exists(directory.file("dangling")));
}

TraceLine line(std::size_t worker, std::uint64_t step, std::size_t origin, std::uint32_t sequence,
               Nanoseconds time) {
  return {worker_id(worker), step, {worker_id(origin), sequence}, step, time, {}, 0, 0};
}

TEST_F(Record, TraceLinesHaveTheContractsForm) {
  TraceLine own{worker_id(1), 7, {worker_id(1), 3}, 7, 1000, 900, 0, 0};
  EXPECT_EQ(to_json(own),
            R"({"ev":"apply","worker":1,"step":7,"origin":1,"seq":3,"origin_step":7,"time":1000,)"
            R"("start":900,"S":0,"S_hat":0})"
            "\n");
  TraceLine foreign{worker_id(1), 8, {worker_id(0), 2}, 4, 1200, {}, 4, {}};
  EXPECT_EQ(to_json(foreign),
            R"({"ev":"apply","worker":1,"step":8,"origin":0,"seq":2,"origin_step":4,"time":1200,)"
            R"("S":4,"S_hat":null})"
            "\n");
}

TEST_F(Record, TheTraceIsMergedInOrderOfTime) {
  const std::string path = directory.file("trace.jsonl");
  TraceWriter writer(path, 2);
  writer.add(worker_id(0), {line(0, 0, 0, 0, 10), line(0, 1, 1, 0, 40)}, 41);
  writer.add(worker_id(1), {line(1, 0, 1, 0, 20)}, 21);
  writer.add(worker_id(1), {line(1, 1, 0, 0, 30)}, 31);
  EXPECT_FALSE(fs::exists(path));
  writer.finish();
  const TraceFile trace = read_trace(path);
  ASSERT_EQ(trace.applications.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k)
    EXPECT_EQ(trace.applications[k].time, static_cast<Nanoseconds>(10 * (k + 1)));
}

TEST_F(Record, ATraceStatesTheToleranceOfItsClocksAtTheEnd) {
  const std::string path = directory.file("trace.jsonl");
  TraceWriter writer(path, 1);
  writer.add(worker_id(0), {line(0, 0, 0, 0, 10)}, 11);
  writer.finish(to_trace_line(RankClocks{{0, 500}, {0, 3}, 1234}));
  EXPECT_THAT(read_text(path), HasSubstr("}\n{\"ev\":\"clocks\",\"tolerance\":1234}\n"));
  const TraceFile trace = read_trace(path);
  EXPECT_EQ(trace.applications.size(), 1u);
  EXPECT_EQ(trace.tolerance, 1234);
  const auto wrong = read_trace(directory.write("t", R"({"ev":"clocks","tolerance":-1})"));
  EXPECT_EQ(wrong.malformed.size(), 1u);
}

TEST_F(Record, ATraceThatCannotBeWrittenIsReported) {
  const test::FileSizeLimit full(100);
  TraceWriter writer(directory.file("trace.jsonl"), 1);
  std::vector<TraceLine> lines(100, line(0, 0, 0, 0, 1));
  writer.add(worker_id(0), lines, 2);
  EXPECT_TRUE(test::eventually([&] { return writer.failure() != nullptr; }));
  writer.add(worker_id(0), lines, 3);  // nobody waits for it any more
  EXPECT_THROW(writer.finish(), WriteError);
}

TEST_F(Record, ATraceThatIsGivenUpMakesRoomAndReportsWhy) {
  const test::FileSizeLimit full(100);
  const std::string path = directory.file("trace.jsonl");
  std::promise<std::string> reported;
  TraceWriter writer(path, 1, [&](const std::string& why) { reported.set_value(why); });
  writer.add(worker_id(0), std::vector<TraceLine>(100, line(0, 0, 0, 0, 1)), 2);
  EXPECT_THAT(reported.get_future().get(), HasSubstr("trace.jsonl: cannot be written"));
  EXPECT_FALSE(fs::exists(partial_path(path)));
  EXPECT_EQ(writer.failure(), nullptr) << "the callback decides";
  writer.finish();  // reports nothing a second time
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Record, AppendingThatFailsLeavesAFileWithWhatItHad) {
  const std::string path = directory.file("lines");
  AtomicFile file(path);
  file.append("one\n");
  {
    const test::FileSizeLimit full(6);
    EXPECT_THROW(file.append("and two\n"), WriteError);
  }
  file.append("three\n");
  file.commit();
  EXPECT_EQ(read_text(path), "one\nthree\n");
}

TEST_F(Record, ReadingSkipsWhatItDoesNotKnowAndKeepsWhatIsMalformed) {
  const auto trace = read_trace(directory.write(
      "t", R"({"ev":"hello","x":1})"
           "\n\n"
           R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":0,"origin_step":0,"more":[1]})"
           "\nnot json\n"
           R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":-1,"origin_step":0})"
           "\n"
           R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":1})"
           "\n"
           R"({"ev":"apply","wor)"));
  EXPECT_EQ(trace.applications.size(), 1u);
  EXPECT_EQ(trace.applications[0].line, 3u);
  ASSERT_EQ(trace.malformed.size(), 4u);
  EXPECT_EQ(trace.malformed[0].line, 4u);
  EXPECT_THAT(trace.malformed[1].what, HasSubstr("\"seq\" is not a whole number"));
  EXPECT_THAT(trace.malformed[2].what, HasSubstr("has no \"origin_step\""));
  EXPECT_EQ(trace.malformed[3].line, 7u);
  EXPECT_THROW(read_trace("/no/such"), InputError);
}

TEST_F(Record, TimesThatCannotBeAreMalformed) {
  const auto trace = read_trace(directory.write(
      "t",
      R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":0,"origin_step":0,"time":-1})"
      "\n"
      R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":0,"origin_step":0,"start":-5,"time":1})"
      "\n"
      R"({"ev":"apply","worker":0,"step":0,"origin":0,"seq":0,"origin_step":0,"start":9,"time":8})"
      "\n"));
  EXPECT_TRUE(trace.applications.empty());
  ASSERT_EQ(trace.malformed.size(), 3u);
  EXPECT_THAT(trace.malformed[0].what, HasSubstr("\"time\" is not a whole number from 0"));
  EXPECT_THAT(trace.malformed[1].what, HasSubstr("\"start\" is not a whole number from 0"));
  EXPECT_THAT(trace.malformed[2].what, HasSubstr("ends before it starts"));
}

TEST_F(Record, ATraceIsHeldAgainstTheSummaryOfItsRun) {
  TraceCheck check;
  check.gradients_by_worker = {3, 2};
  check.events.resize(10);
  check.staleness.S_avg = 0.5;
  check.staleness.S_max = 2;
  nlohmann::json summary{{"gradients_by_worker", {3, 2}}, {"S_avg", 0.5}, {"S_max", 2}};
  EXPECT_TRUE(contradictions(check, summary).empty());
  summary["S_hat_avg"] = nullptr;  // not kept
  EXPECT_TRUE(contradictions(check, summary).empty());
  summary["gradients_by_worker"] = {3, 2, 4};
  ASSERT_EQ(contradictions(check, summary).size(), 1u);
  EXPECT_EQ(contradictions(check, summary)[0].what,
            "the trace has 0 gradients of worker 2, summary.json says 4");
  summary["gradients_by_worker"] = {3, 2};
  summary["S_max"] = 3;
  EXPECT_EQ(contradictions(check, summary)[0].what, "S_max of the trace is 2, summary.json says 3");
  EXPECT_EQ(contradictions(check, nlohmann::json::array())[0].what, "summary.json cannot be read");
  EXPECT_TRUE(contradictions({}, {{"gradients_by_worker", {0, 0}}, {"S_max", 0}}).empty())
      << "a leg without gradients";
}

TEST_F(Record, TheSummaryHasTheContractsKeys) {
  RunSummary summary;
  summary.loss = std::numeric_limits<double>::quiet_NaN();
  const auto json = nlohmann::json::parse(to_json(summary));
  for (const char* key : {"workers",
                          "gradients",
                          "lost",
                          "duplicated",
                          "replicas_identical",
                          "replica_digest",
                          "S_avg",
                          "S_max",
                          "S_hat_avg",
                          "S_hat_max",
                          "S_mean_square",
                          "iterations",
                          "time",
                          "stop_reason",
                          "samples",
                          "samples_per_second",
                          "loss",
                          "wall_seconds",
                          "version",
                          "formats",
                          "seed"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_FALSE(json.contains("accuracy")) << "only where there is one";
  EXPECT_TRUE(json["loss"].is_null()) << "JSON has no NaN";
}

TEST_F(Record, ModelsAreNumpyFiles) {
  const std::vector<float> x{1, 2, 3};
  const std::string bytes = to_npy<float>(x);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t header =
      static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ((10 + header) % 64, 0u);
  EXPECT_THAT(bytes, HasSubstr("'descr': '<f4', 'fortran_order': False, 'shape': (3,)"));
  EXPECT_EQ(bytes.size(), 10 + header + 12);
}

TEST(ReplicaDigests, WhoDiffersIsNamed) {
  EXPECT_EQ(difference({}), "");
  EXPECT_EQ(difference({{"a", "x"}, {"b", "x"}}), "");
  EXPECT_EQ(difference({{"a", "x"}, {"b", "y"}, {"c", "x"}}), "b has y, a and c have x");
  std::vector<ReplicaDigest> many(20, {"one", "x"});
  many.push_back({"other", "y"});
  EXPECT_TRUE(difference(many).ends_with("and 12 more have x")) << difference(many);
}

TEST(ReplicaDigests, WhatWasNotComparedIsNotSaidToBeIdentical) {
  RunSummary summary;
  summary.replicas_identical = true;
  summary.digest_of_all = {{"a", "x"}, {"b", "x"}};
  auto json = nlohmann::json::parse(to_json(summary));
  EXPECT_EQ(json["replicas_identical"], true);
  EXPECT_EQ(json["digest_of_all"], nlohmann::json({"x", "x"}));
  summary.replicas_compared = false;
  json = nlohmann::json::parse(to_json(summary));
  EXPECT_TRUE(json["replicas_identical"].is_null());
}

}  // namespace
}  // namespace dasgd
