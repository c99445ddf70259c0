// The table of settings: what every one of them must keep to.
#include "dasgd/settings/settings.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "support/all_commands.hpp"

namespace dasgd::config {
namespace {

class EverySetting : public ::testing::TestWithParam<Command> {};

INSTANTIATE_TEST_SUITE_P(Of, EverySetting, ::testing::ValuesIn(test::all_commands),
                         test::name_of_command);

std::string section_of(const std::string& key) {
  return key.find('.') == std::string::npos ? "" : key.substr(0, key.find('.'));
}

TEST_P(EverySetting, HasAKeyAndAnOptionOfItsOwn) {
  std::set<std::string> keys, options;
  for (const Setting& setting : settings(GetParam())) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    EXPECT_TRUE(options.insert(setting.option).second) << setting.option;
    EXPECT_TRUE(setting.option.starts_with("--")) << setting.option;
    EXPECT_FALSE(setting.help.empty()) << setting.key;
    EXPECT_EQ(setting.placeholder.empty(), setting.kind == Setting::Kind::flag) << setting.key;
  }
}

TEST(Subject, IsTheSameFromEveryDirectory) {
  Config config;
  config.problem.model = "m/model.pt";
  config.problem.reading.validation = "X.npy,y.npy";
  const std::string here = std::filesystem::current_path().string() + "/";
  const auto subject = subject_of(config);
  EXPECT_EQ(subject.at("model"), here + "m/model.pt");
  EXPECT_EQ(subject.at("validation"), here + "X.npy," + here + "y.npy");
  EXPECT_EQ(find_setting(Command::train, "validation")->show(config),
            "\"" + here + "X.npy," + here + "y.npy\"");
}

TEST(Subject, NamesTheLossThatIsTheDefault) {
  Config config;
  EXPECT_FALSE(subject_of(config).contains("loss")) << "softmax has one alone";
  config.problem.model = "linear";
  EXPECT_EQ(subject_of(config).at("loss"), "mse");
  config.problem.loss = NetworkLoss::huber;
  EXPECT_EQ(subject_of(config).at("loss"), "huber");
}

TEST_P(EverySetting, StandsTogetherWithThoseOfItsTableAndThoseOfNoTableComeFirst) {
  std::set<std::string> closed;
  std::string open;
  for (const Setting& setting : settings(GetParam())) {
    const std::string here = section_of(setting.key);
    if (here == open) continue;
    closed.insert(open);
    EXPECT_FALSE(closed.contains(here)) << setting.key << " stands apart from its table";
    open = here;
  }
}

TEST_P(EverySetting, IsFoundByItsKey) {
  for (const Setting& setting : settings(GetParam()))
    EXPECT_EQ(find_setting(GetParam(), setting.key), &setting);
  EXPECT_EQ(find_setting(GetParam(), "no.such.key"), nullptr);
}

TEST(WithOptions, TurnsAKeyIntoItsOptionAndLeavesOthersAlone) {
  EXPECT_EQ(with_options("`topology.kind` moon: is unknown"), "--topology moon: is unknown");
  EXPECT_EQ(with_options("`lr` and `batch`"), "--lr and --batch");
  EXPECT_EQ(with_options("`checkpoint.resume` x"), "--resume x");
  EXPECT_EQ(with_options("see `make help`; `lr`"), "see `make help`; --lr");
  EXPECT_EQ(with_options("an open ` stays"), "an open ` stays");
  EXPECT_EQ(with_options("a`b: `data` needs `eta`"), "a`b: --data needs --eta");
  EXPECT_EQ(with_options("`` and `"), "`` and `");
  EXPECT_EQ(with_options(""), "");
}

TEST(WithOptions, KnowsTheKeysOfEveryCommand) {
  for (const Command command : test::all_commands)
    for (const Setting& setting : settings(command))
      EXPECT_EQ(with_options("`" + setting.key + "`"), setting.option);
}

}  // namespace
}  // namespace dasgd::config
