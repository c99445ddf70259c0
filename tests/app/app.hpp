// Tests of the binary: runs it in a shell, in a directory of its own.
#pragma once

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

#include "support/process.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::test {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class App : public ::testing::Test {
 protected:
  Outcome dasgd(const std::string& arguments) { return shell(command(arguments)); }
  std::string command(const std::string& arguments) { return DASGD_BINARY " " + arguments; }
  std::string out(const std::string& name = "run") { return directory.file(name); }
  json summary() { return json::parse(read_text(out() + "/summary.json")); }

  /// One line on standard error, status 2, nothing on standard output, no run directory.
  void expect_refusal(const std::string& arguments, const std::string& what) {
    const Outcome outcome = dasgd(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_THAT(outcome.err, HasSubstr(what)) << arguments;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_FALSE(fs::exists(out())) << arguments;
  }

  TemporaryDirectory directory;
};

}  // namespace dasgd::test
