// The first words that a person reads.
#include "app/app.hpp"

namespace dasgd::test {
namespace {

TEST_F(App, HelpOfACommandIsItsHelp) {
  for (const char* name : {"train", "simulate", "sweep", "export"}) {
    const Outcome asked = dasgd(std::string("help ") + name);
    EXPECT_EQ(asked.status, 0);
    EXPECT_EQ(asked.out, dasgd(std::string(name) + " --help").out);
  }
  EXPECT_EQ(dasgd("help").out, dasgd("--help").out);
  expect_refusal("help trian", "did you mean \"train\"?");
}

TEST_F(App, KnowsWhatOtherProgramsCallItsOptions) {
  expect_refusal("train --learning-rate 0.1", "dasgd calls it --lr");
  expect_refusal("train --batch-size 32", "dasgd calls it --batch");
  expect_refusal("simulate --optimizer adam", "dasgd calls it --rule");
}

TEST_F(App, VersionNamesMpiAndLibTorch) {
  EXPECT_THAT(dasgd("--version").out, ContainsRegex("^dasgd [0-9.]+\nMPI: .+\nLibTorch: .+\n$"));
}

TEST_F(App, VersionSaysWhereNetworksAreNotInstalled) {
  fs::copy(DASGD_BINARY, directory.file("dasgd"));
  const std::string missing = "[0-9.]+, not here: install the package dasgd-networks";
  EXPECT_THAT(shell(directory.file("dasgd") + " --version").out,
              ContainsRegex("\nLibTorch: (none, built without it|" + missing + ")\n$"));
}

// What --help shows must work: the example in virtual time, as it stands there.
TEST_F(App, TheFirstExampleInVirtualTimeDoesNotDiverge) {
  const std::string help = dasgd("--help").out;
  const std::size_t at = help.find("dasgd simulate ");
  ASSERT_NE(at, std::string::npos);
  const std::string example = help.substr(at + 6, help.find('\n', at) - at - 6);
  const Outcome outcome = dasgd(example + " --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(summary()["stop_reason"], "budget");
  EXPECT_THAT(outcome.out, HasSubstr("real): the budget is used up"));
}

}  // namespace
}  // namespace dasgd::test
