// What tests of dasgd under mpirun share: real processes, real signals.
#pragma once

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::test {

class MpiApp : public ::testing::Test {
 protected:
  std::string command(int ranks, const std::string& arguments) {
    return DASGD_MPIRUN " -n " + std::to_string(ranks) + " " DASGD_BINARY " " + arguments;
  }
  Outcome mpirun(int ranks, const std::string& arguments) {
    return shell("timeout 600 " + command(ranks, arguments));
  }
  std::string out() { return directory.file("run"); }
  nlohmann::json summary() { return nlohmann::json::parse(read_text(out() + "/summary.json")); }
  Outcome check(const std::string& options = "") {
    return shell(DASGD_BINARY " check " + options + " " + out() + "/trace.jsonl");
  }

  /// The process of a rank of the run in this test's directory.
  pid_t process_of(int rank) {
    const std::string mpich = "PMI_RANK=" + std::to_string(rank);
    const std::string open_mpi = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (name.find_first_not_of("0123456789") != name.npos) continue;
      const std::string command = read_text(entry.path() / "cmdline");
      if (!command.starts_with(DASGD_BINARY) || command.find(out()) == command.npos) continue;
      std::istringstream variables(read_text(entry.path() / "environ"));
      for (std::string variable; std::getline(variables, variable, '\0');)
        if (variable == mpich || variable == open_mpi) return std::stoi(name);
    }
    return 0;
  }
  bool is_running() {
    return eventually([&] {
      std::error_code error;
      return std::filesystem::file_size(out() + "/trace.jsonl.partial", error) > 0 && !error;
    });
  }
  std::string endless(const std::string& more = "") {
    return "train --model quadratic --topology ring --lr 1e-5 --compute 20ms --max-time 10min "
           "--trace --out " +
           out() + " " + more;
  }

  /// Kills rank 2 of a job that was started with `timeout`: the job ends and says so.
  void kill_rank_two(const Process& job) {
    const pid_t victim = process_of(2);
    ASSERT_GT(victim, 0);
    ::kill(victim, SIGKILL);
    const Outcome outcome = job.wait();
    EXPECT_NE(outcome.status, 0);
    EXPECT_NE(outcome.status, 124) << "it hung";
    // Open MPI names the rank. MPICH says that one died, but not always which.
    EXPECT_THAT(outcome.out + outcome.err,
                ::testing::AnyOf(::testing::HasSubstr("rank 2"),
                                 ::testing::HasSubstr("BAD TERMINATION OF ONE")));
  }

  std::vector<std::string> checkpoints() {
    std::vector<std::string> files;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(out() + "/checkpoints", ignored))
      if (entry.path().extension() == ".dasgd") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  TemporaryDirectory directory;
};

}  // namespace dasgd::test
