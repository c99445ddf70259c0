// Whose directory it is, and who may write there.
#include "dasgd/archive/run_directory.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "dasgd/core/error.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

namespace fs = std::filesystem;
using test::message_of;
using test::read_text;
using test::TemporaryDirectory;
using ::testing::HasSubstr;

// Every file under a directory with its bytes.
std::map<std::string, std::string> contents_of(const std::string& path) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    contents[entry.path()] = entry.is_regular_file() ? read_text(entry.path()) : "";
  return contents;
}

TEST(RunDirectoryTest, LeavesADirectoryAloneThatHoldsFilesOfSomebodyElse) {
  for (const std::string name : {"config.toml", "model.pt", "charts", "report.html", "notes.txt"}) {
    const TemporaryDirectory directory;
    if (name == "charts") {
      fs::create_directory(directory.file(name));
      directory.write("charts/mine.svg", "<svg/>");
    } else {
      directory.write(name, "# my own words\nworkers = 3  # as many as we have\n");
    }
    const auto before = contents_of(directory.path());
    EXPECT_EQ(message_of<InputError>([&] { RunDirectory(directory.path(), "m"); }),
              "`output.out` " + directory.path() +
                  ": has files that do not belong to a run; choose a new or empty directory");
    EXPECT_EQ(contents_of(directory.path()), before) << name;
  }
}

TEST(RunDirectoryTest, APlannedRunTakesNothingFromAnEarlierOneAndLeavesNothingUnlessItBegins) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("run");
  { const PlannedRun given_up(path, "m", "lr = \"auto\"\n"); }
  EXPECT_FALSE(fs::exists(path));
  PlannedRun planned(path, "m", "lr = \"auto\"\n");
  EXPECT_EQ(read_text(path + "/config.toml"), "lr = \"auto\"\n");
  EXPECT_THROW(RunDirectory(path, "m"), InputError) << "it is taken";
  planned.begin();
  RunDirectory(path, "m");
  directory.write("run/config.toml", "lr = 1\n");
  fs::create_directory(path + "/checkpoints");
  directory.write("run/checkpoints/checkpoint-000001.dasgd", "of a killed run");
  const auto earlier = contents_of(path);
  { const PlannedRun another(path, "m", "lr = \"auto\"\n"); }
  EXPECT_EQ(contents_of(path), earlier);
}

TEST(RunDirectoryTest, TakesANewOneAnEmptyOneAndItsOwnAgain) {
  const TemporaryDirectory directory;
  EXPECT_NO_THROW(RunDirectory(directory.path(), "m"));
  directory.write("summary.json", "{}");
  directory.write("model.npy", "an earlier model");
  directory.write("trace.2.jsonl", "an earlier leg");
  const std::vector<std::string> of_members{"members.json", "membership.jsonl", "adoptions.jsonl",
                                            "address",      "addresses",        "token"};
  for (const std::string& name : of_members) directory.write(name, "of an earlier run");
  directory.write("notes.txt", "beside a run");
  const RunDirectory again(directory.path(), "m");
  EXPECT_FALSE(fs::exists(again.file("summary.json"))) << "a directory never mixes two runs";
  EXPECT_FALSE(fs::exists(again.file("model.npy")));
  EXPECT_FALSE(fs::exists(again.file("trace.2.jsonl")));
  for (const std::string& name : of_members) EXPECT_FALSE(fs::exists(again.file(name))) << name;
  EXPECT_EQ(read_text(again.file("notes.txt")), "beside a run");
  EXPECT_NO_THROW(RunDirectory(directory.file("a/b/c"), "m"));
}

TEST(RunDirectoryTest, AResumedRunWithoutACheckpointKeepsItsSettings) {
  const TemporaryDirectory directory;
  { const RunDirectory first(directory.path(), "m"); }
  directory.write("config.toml", "seed = 3");
  directory.write("summary.json", "{}");
  { const RunDirectory resumed(directory.path(), "m", true); }
  EXPECT_EQ(read_text(directory.file("config.toml")), "seed = 3");
  EXPECT_FALSE(fs::exists(directory.file("summary.json")));
  { const RunDirectory other(directory.path(), "m"); }
  EXPECT_FALSE(fs::exists(directory.file("config.toml")));
}

TEST(RunDirectoryTest, WhetherItCanBeUsedIsSaidWithoutTouchingIt) {
  const TemporaryDirectory directory;
  { const RunDirectory first(directory.path(), "m"); }
  directory.write("summary.json", "{}");
  const auto before = contents_of(directory.path());
  EXPECT_NO_THROW(RunDirectory::require_usable(directory.path()));
  EXPECT_NO_THROW(RunDirectory::require_usable(directory.file("new")));
  EXPECT_NO_THROW(RunDirectory::require_usable(""));
  EXPECT_EQ(contents_of(directory.path()), before);
  const TemporaryDirectory of_somebody;
  of_somebody.write("notes.txt", "no run");
  EXPECT_THROW(RunDirectory::require_usable(of_somebody.path()), InputError);
}

TEST(RunDirectoryTest, ASecondProcessIsRefusedUntilTheFirstHasGone) {
  const TemporaryDirectory directory;
  const auto in_another_process = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        const RunDirectory mine(directory.path(), "m");
        ::_exit(0);
      } catch (const InputError&) {
        ::_exit(2);
      }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  {
    const RunDirectory mine(directory.path(), "m");
    EXPECT_EQ(in_another_process(), 2);
    EXPECT_EQ(message_of<InputError>([&] { RunDirectory(directory.path(), "m"); }),
              directory.path() + ": another dasgd is running in this directory")
        << "nor a second run of this one";
  }
  EXPECT_EQ(in_another_process(), 0);
}

TEST(RunDirectoryTest, AFileIsNoDirectory) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("file", "");
  EXPECT_THAT(message_of<InputError>([&] { RunDirectory(file, "m"); }),
              HasSubstr("cannot be made a directory"));
  EXPECT_THAT(message_of<InputError>([&] { RunDirectory(file + "/below", "m"); }),
              HasSubstr("cannot be made a directory"));
}

TEST(RunDirectoryTest, ReopenedItKeepsTheTraceOfTheLegBefore) {
  const TemporaryDirectory directory;
  { const RunDirectory first(directory.path(), "m"); }
  directory.write("trace.jsonl", "leg 1");
  directory.write("summary.json", "{}");
  directory.write("metrics.jsonl", "kept");
  { const RunDirectory second = RunDirectory::reopen(directory.path(), 2); }
  EXPECT_EQ(read_text(directory.file("trace.1.jsonl")), "leg 1");
  EXPECT_FALSE(fs::exists(directory.file("trace.jsonl")));
  EXPECT_FALSE(fs::exists(directory.file("summary.json"))) << "this run has not ended";
  EXPECT_EQ(read_text(directory.file("metrics.jsonl")), "kept");
  directory.write("trace.jsonl", "leg 2 without a checkpoint");
  { const RunDirectory again = RunDirectory::reopen(directory.path(), 2); }
  EXPECT_EQ(read_text(directory.file("trace.1.jsonl")), "leg 1");
  EXPECT_FALSE(fs::exists(directory.file("trace.jsonl")));
}

}  // namespace
}  // namespace dasgd
