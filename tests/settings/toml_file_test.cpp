// Config files: what is written reads back as the same, what is wrong is named with its place.
#include "dasgd/settings/toml_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/random/random.hpp"
#include "support/all_commands.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::config {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::HasSubstr;

// Texts that each setting takes, as on a command line.
const std::map<std::string, std::vector<std::string>> good_texts{
    {"model", {"quadratic", "softmax", "linear", "cnn", "char-transformer"}},
    {"data", {"fashion-mnist", "with space/a\"b\\c", "tab\there", "line\nbreak", "-", "\u00e9"}},
    {"loss", {"cross-entropy", "mse", "huber"}},
    {"device", {"cpu", "cuda"}},
    {"precision", {"fp32", "tf32", "bf16"}},
    {"channels_last", {"true", "false"}},
    {"no_graph", {"true", "false"}},
    {"gpt", {"small", "medium", "96:2:4"}},
    {"context", {"2", "1024"}},
    {"augment", {"flip", "crop", "flip,crop"}},
    {"validation", {"0.1", "held out.csv"}},
    {"test", {"test.csv"}},
    {"label", {"kind", "3", "a \"b\""}},
    {"scale", {"standard", "inputs", "255", "none"}},
    {"missing", {"drop", "mean", "error", "median", "most-frequent"}},
    {"resize", {"32x32", "8x12"}},
    {"class_weights", {"balanced", "oak:2,yew:0.5"}},
    {"workers", {"1", "8", "4294967294"}},
    {"lr", {"0.1", "1e-300", "3", "1e+300"}},
    {"batch", {"0", "32"}},
    {"elastic.advertise", {"10.0.0.1:7000"}},
    {"look_ahead", {"off", "auto", "0.5"}},
    {"message", {"full", "int8", "ternary", "auto"}},
    {"sampling", {"own", "shards", "independent", "dirichlet:0.5"}},
    {"pace.speeds", {"lognormal:0.5", "pareto:1.5"}},
    {"seed", {"0", "9223372036854775807"}},
    {"format", {"csv", "libsvm"}},
    {"features", {"1", "784"}},
    {"classes", {"2", "10"}},
    {"engine", {"auto", "threads", "mpi"}},
    {"topology.kind", {"full", "torus:3x4", "mesh:2x5", "random-regular:4", "file:a b.txt"}},
    {"topology.relay", {"arrival", "apply", "none", "mesh", "tree:3", "auto"}},
    {"budget.gradients", {"7", "1,2,3"}},
    {"budget.total_gradients", {"1", "100000"}},
    {"budget.epochs", {"0.5", "3", "1e6"}},
    {"budget.max_time", {"30s", "1.5ms", "90min", "7ns"}},
    {"budget.target_error", {"1e-9", "0.25"}},
    {"budget.target_loss", {"-1", "0", "0.1"}},
    {"pace.slow", {"1:10", "0:1.5", "3:1e6"}},
    {"pace.in_flight", {"1", "128"}},
    {"exclude", {"id", "id,date", "7"}},
    {"pace.compute", {"50ms", "+1ms", "1ms", "0s"}},
    {"pace.latency", {"50us", "uniform:1us:2us", "lognormal:1ms:0.5", "exponential:3us"}},
    {"pace.apply", {"5us", "0s"}},
    {"pace.start", {"0s,1s,2s"}},
    {"pace.arrivals", {"poisson:100", "poisson:0.5"}},
    {"pace.bandwidth", {"1e9", "125000000", "100Mbit"}},
    {"pace.nic", {"1e9", "125000000", "12.5MB"}},
    {"pace.threads", {"0", "4"}},
    {"guard.on_divergence", {"stop", "halve"}},
    {"guard.L", {"0.25", "1e12"}},
    {"guard.measure_gradients", {"true", "false"}},
    {"chaos.delay", {"0.1:5ms", "0:1s", "0.5:0s"}},
    {"chaos.reorder", {"0", "0.25"}},
    {"chaos.duplicate", {"0.1"}},
    {"chaos.drop", {"0.999"}},
    {"chaos.pause", {"1:1s:500ms", "0:0s:3us"}},
    {"chaos.partition", {"0,1|2,3:1s:500ms", "0|1:0s:1h"}},
    {"rule.kind", {"sgd", "momentum", "nesterov", "adam"}},
    {"rule.momentum", {"0.9", "0"}},
    {"rule.beta1", {"0.5"}},
    {"rule.beta2", {"0.9999"}},
    {"rule.weight_decay", {"0", "1e-4"}},
    {"rule.clip", {"1", "0.5"}},
    {"rule.schedule",
     {"constant", "step:1000:0.5", "cosine", "cosine:5000:0.01", "cooldown:5000:0.2"}},
    {"rule.warmup", {"0", "12.5"}},
    {"evaluation.every", {"0s", "10s", "250ms"}},
    {"evaluation.patience", {"1", "5"}},
    {"evaluation.target_accuracy", {"0.9", "1"}},
    {"evaluation.target_loss", {"0.5", "-1"}},
    {"checkpoint.every", {"0s", "60s"}},
    {"checkpoint.resume", {"runs/one"}},
    {"ranks.workers_per_rank", {"1", "4"}},
    {"ranks.polling", {"eager", "patient", "auto"}},
    {"ranks.timeout", {"2s", "1min"}},
    {"ranks.log", {"true", "false"}},
    {"ranks.no_shared_memory", {"true", "false"}},
    {"elastic.listen", {"127.0.0.1:0", "0.0.0.0:7070"}},
    {"elastic.token_file", {"/etc/token"}},
    {"elastic.name", {"left", "a b"}},
    {"elastic.cert", {"/etc/cert.pem"}},
    {"elastic.key", {"/etc/key.pem"}},
    {"elastic.ca", {"/etc/ca.pem"}},
    {"elastic.plaintext", {"true", "false"}},
    {"elastic.merge", {"average", "union", "yield"}},
    {"elastic.gone_after", {"2s", "1min"}},
    {"elastic.alone_after", {"2s", "1min"}},
    {"elastic.expected", {"1", "40"}},
    {"elastic.crash", {"1:30s", "0:5ms"}},
    {"elastic.join", {"30s", "0s"}},
    {"elastic.leave", {"1:30s", "0:5ms"}},
    {"elastic.simulated", {"true", "false"}},
    {"output.out", {"runs/other"}},
    {"output.trace", {"true", "false"}},
    {"output.no_report", {"true", "false"}},
    {"output.quiet", {"true", "false"}},
    {"output.json", {"true", "false"}},
    {"watch.port", {"", "0", "65535"}},
    {"watch.address", {"127.0.0.1", "0.0.0.0"}},
    {"watch.token", {"0123456789abcdef0123456789abcdef"}},
    {"watch.token_file", {"/etc/token"}},
};

// The written step size is that of the run, which resolve() takes from what was asked for.
Config settled(Config config) {
  config.run.eta = config.lr.value_or(config.run.eta);
  return config;
}

Config read_back(Command command, const std::string& text) {
  const TemporaryDirectory directory;
  Config config;
  read_config_file(command, directory.write("config.toml", text), {}, config);
  return settled(config);
}

class ConfigFile : public ::testing::TestWithParam<Command> {};

INSTANTIATE_TEST_SUITE_P(Of, ConfigFile, ::testing::ValuesIn(test::all_commands),
                         test::name_of_command);

TEST_P(ConfigFile, EverySettingReadsBackAsWhatItShows) {
  for (const Setting& setting : settings(GetParam())) {
    ASSERT_TRUE(good_texts.contains(setting.key)) << setting.key << " has no text in this test";
    for (const std::string& text : good_texts.at(setting.key)) {
      Config config;
      ASSERT_NO_THROW(setting.set(config, text)) << setting.key << " " << text;
      config = settled(config);
      if (!setting.show(config)) continue;
      const Config again = read_back(GetParam(), to_toml(GetParam(), config));
      EXPECT_EQ(setting.show(again), setting.show(config)) << setting.key << " " << text;
    }
  }
}

TEST_P(ConfigFile, AnyConfigReadsBackAsTheSame) {
  const Command command = GetParam();
  const auto reads_back = [command](std::uint64_t seed) {
    Random random(seed, Purpose::test);
    Config config;
    for (const Setting& setting : settings(command)) {
      const auto& texts = good_texts.at(setting.key);
      const std::uint32_t most = setting.kind == Setting::Kind::repeatable ? 4 : 2;
      for (std::uint32_t i = random.below(most); i > 0; --i)
        setting.set(config, texts[random.below(static_cast<std::uint32_t>(texts.size()))]);
    }
    const std::string written = to_toml(command, settled(config));
    RC_ASSERT(to_toml(command, read_back(command, written)) == written);
  };
  EXPECT_TRUE(rc::check(reads_back));
}

TEST_P(ConfigFile, WhatWasGivenElsewhereIsNotReplaced) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("config.toml", "workers = 5\nbatch = 3\n");
  Config config;
  config.workers = 2;
  read_config_file(GetParam(), path, {"workers"}, config);
  EXPECT_EQ(config.workers, 2u);
  EXPECT_EQ(config.run.batch, 3u);
}

TEST_P(ConfigFile, SettingsOfAnotherCommandAreLeftAlone) {
  EXPECT_EQ(read_back(GetParam(), "[pace]\nbandwidth = 1e6\n[checkpoint]\nevery = \"1s\"\n")
                .world.bandwidth.has_value(),
            GetParam() != Command::train);
}

std::string refusal(const std::string& text, Command command = Command::train) {
  const TemporaryDirectory directory;
  const std::string path = directory.write("c.toml", text);
  Config config;
  const std::string what =
      message_of<InputError>([&] { read_config_file(command, path, {}, config); });
  const std::size_t at = what.find("c.toml");
  return at == std::string::npos ? what : what.substr(at);
}

TEST(ConfigFileMistakes, AnUnknownKeyIsNamedWithFileLineAndTheNearestOne) {
  EXPECT_EQ(refusal("lr = 0.1\n\n[topology]\nkidn = \"ring\"\n"),
            "c.toml:4: unknown key \"topology.kidn\"; did you mean \"topology.kind\"?");
  EXPECT_EQ(refusal("workres = 2\n"),
            "c.toml:1: unknown key \"workres\"; did you mean \"workers\"?");
  EXPECT_EQ(refusal("total_gradients = 2\n"),
            "c.toml:1: unknown key \"total_gradients\"; the key of --total-gradients is "
            "\"budget.total_gradients\"");
  EXPECT_EQ(refusal("zzzzzzzzzzz = 2\n", Command::simulate),
            "c.toml:1: unknown key \"zzzzzzzzzzz\"; dasgd simulate --help shows the key of every "
            "option");
  EXPECT_THAT(refusal("[checkpoint]\nresume = \"x\"\n"),
              HasSubstr("c.toml:2: unknown key \"checkpoint.resume\""));
}

TEST(ConfigFileMistakes, AValueThatIsNoneIsNamedWithItsKey) {
  EXPECT_EQ(refusal("workers = 0\n"), "c.toml: workers = 0: must be at least 1");
  EXPECT_THAT(refusal("[topology]\nkind = \"rnig\"\n"),
              AllOf(HasSubstr("c.toml: topology.kind = \"rnig\": "), HasSubstr("ring")));
  EXPECT_THAT(refusal("lr = 1979-05-27\n"),
              HasSubstr("c.toml: lr has a value of an unsupported type"));
}

TEST(ConfigFileMistakes, WhatIsNoTomlIsNamedWithItsLine) {
  EXPECT_THAT(refusal("lr = 0.1\nworkers = = 2\n"), HasSubstr("c.toml:2: "));
  EXPECT_THAT(refusal("lr = 0.1\nlr = 0.2\n"), HasSubstr("c.toml:2: "));
}

TEST(ConfigFileMistakes, ADirectoryOrNothingIsNoFile) {
  Config config;
  const TemporaryDirectory directory;
  for (const std::string& path : {directory.path(), directory.file("nothing")})
    EXPECT_EQ(message_of<InputError>([&] { read_config_file(Command::train, path, {}, config); }),
              path + ": is not a file; CONFIG.toml must be one");
}

TEST(TomlFile, ThatNothingWasPassedOnIsNoChoiceForAnotherGraph) {
  const TemporaryDirectory directory;
  const std::string path =
      directory.write("config.toml", "[topology]\nkind = \"star\"\nrelay = \"none\"\n");
  Config same, larger, chosen;
  read_config_file(Command::train, path, {}, same);
  EXPECT_EQ(same.run.relay, RelayMode::none);
  read_config_file(Command::train, path, {"workers"}, larger);
  EXPECT_EQ(larger.run.relay, std::nullopt);
  chosen.run.relay = RelayMode::none;
  read_config_file(Command::train, path, {"workers", "topology.relay"}, chosen);
  EXPECT_EQ(chosen.run.relay, RelayMode::none);
}

}  // namespace
}  // namespace dasgd::config
