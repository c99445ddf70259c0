#include "dasgd/settings/virtual_world.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::config {
namespace {

using test::message_of;
using test::TemporaryDirectory;
using ::testing::HasSubstr;

TEST(VirtualWorldText, ARecordedRunIsNotReadWhenItIsOnlyNamed) {
  const TemporaryDirectory directory;
  const std::string text = "replay:" + directory.write("trace.jsonl", "not a trace\n");
  Config config;
  config.world.compute = parse_compute(text);
  config.world.latency = parse_latency(text);
  config.world.apply = parse_apply(text);
  config.world.start = parse_start(text);
  EXPECT_EQ(config.world.compute.text, text);
  EXPECT_EQ(config.world.start.replay, directory.file("trace.jsonl"));
  EXPECT_THAT(message_of<InputError>([&] { make_world(config, 2); }),
              HasSubstr(directory.file("trace.jsonl")));
}

TEST(VirtualWorldText, ARecordedRunThatIsNotThereIsRefusedAtOnce) {
  EXPECT_EQ(message_of<InputError>([] { parse_compute("replay:/no/such/run"); }),
            "/no/such/run: is not there; a run directory or a trace is needed");
}

TEST(VirtualWorldText, ATimeIsOneValueOnePerWorkerOrADistribution) {
  EXPECT_EQ(parse_compute("50ms").model.smallest(), 50'000'000);
  EXPECT_EQ(parse_compute("1ms,2ms,5ms").model.items(), 3u);
  const TimeModel uniform = parse_compute("uniform:1us:3us").model;
  EXPECT_EQ(uniform.smallest(), 1'000);
  EXPECT_EQ(uniform.largest(), 3'000);
  EXPECT_FALSE(parse_compute("exponential:1ms").model.is_constant());
}

TEST(VirtualWorldText, WhatIsNoTimeIsRefused) {
  EXPECT_THROW(parse_compute("fast"), InputError);
  EXPECT_THROW(parse_compute("uniform:3us:1us"), InputError);
  EXPECT_THROW(parse_compute("uniform:3us"), InputError);
  EXPECT_THROW(parse_compute("lognormal:1ms:-1"), InputError);
  EXPECT_THROW(parse_latency("1ms,2ms"), InputError);
  EXPECT_THROW(parse_apply("uniform:1us:2us"), InputError);
  EXPECT_THROW(parse_start("0s,soon"), InputError);
}

TEST(VirtualWorldText, LatenciesOfLinksAreReadFromAFileWhoseMistakesHaveALine) {
  const TemporaryDirectory directory;
  const std::string good = directory.write("good.txt", "# ours\n0 1 5ms\n1 0 7us # back\n\n");
  Config config;
  config.world.latency = parse_latency("file:" + good);
  const VirtualWorld world = make_world(config, 2);
  EXPECT_EQ(world.latency_of_link.at({worker_id(0), worker_id(1)}), 5'000'000);
  EXPECT_EQ(world.latency_of_link.at({worker_id(1), worker_id(0)}), 7'000);
  const std::string bad = directory.write("bad.txt", "0 1 5ms\n0 1\n");
  EXPECT_EQ(message_of<InputError>([&] { parse_latency("file:" + bad); }),
            bad + ":2: expected \"a b TIME\"");
}

}  // namespace
}  // namespace dasgd::config
