// `dasgd advise --network` and `dasgd reproduce network` as people use them.
#include "app/app.hpp"

namespace dasgd::test {
namespace {

TEST_F(App, PlansForANetworkWithoutDataFiles) {
  const Outcome outcome =
      dasgd("advise --network 100Mbit --workers 4 --parameters 11M --compute 1s --plan-time 10min");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("4 workers, 11,000,000 numbers each"), HasSubstr("100 Mbit/s: given"),
                    HasSubstr("a stand-in"), HasSubstr("latency        50us: assumed"),
                    HasSubstr("\nrecommended: --relay ")));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(App, PlansAsJsonForASmallProblemItself) {
  const Outcome outcome = dasgd(
      "advise --network 1kB --workers 3 --model quadratic --compute 50ms --plan-time 10min --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json plan = json::parse(outcome.out);
  EXPECT_EQ(plan["network"]["numbers"], 10);
  EXPECT_EQ(plan["network"]["number_bytes"], 8);
  EXPECT_THAT(plan["simulated_with"].get<std::string>(), HasSubstr("the problem itself"));
  EXPECT_EQ(plan["rows"].size(), 12u);
}

TEST_F(App, PlansFromARun) {
  ASSERT_EQ(dasgd("simulate --model quadratic --workers 3 --gradients 20 --compute 10ms --lr 0.001 "
                  "--no-report --out " +
                  out())
                .status,
            0);
  const Outcome given = dasgd("advise --plan-time 10min --network 1kB --from " + out());
  EXPECT_EQ(given.status, 0) << given.err;
  EXPECT_THAT(given.out, AllOf(HasSubstr("3 workers"), HasSubstr("measured by " + out())));
  const Outcome measured = dasgd("advise --plan-time 10min --network measured --from " + out());
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_THAT(measured.out, HasSubstr("what its busiest worker sent"));
}

TEST_F(App, SaysWhatItCannotPlan) {
  expect_refusal("advise --network 1Gbti --workers 4 --parameters 1M", "is not a rate");
  expect_refusal("advise --network 0 --workers 4 --parameters 1M", "is not a rate");
  expect_refusal("advise --network measured --workers 4 --parameters 1M", "needs --from RUN_DIR");
  expect_refusal("advise --network 1Gbit --workers 4 --parameters 1X", "\"1X\" is not a number");
  expect_refusal("advise --network 1Gbit --workers 4 --parameters 1M --plan-time 3", "not a time");
  expect_refusal("advise --network 1Gbit --workers 1 --parameters 1M", "needs no network");
  expect_refusal("advise --parameters 1M", "are for --network RATE");
  expect_refusal("advise --network 1Gbit --from " + directory.file("nothing"),
                 "is not a run directory");
  EXPECT_NE(dasgd("advise --network").status, 0);
  EXPECT_THAT(dasgd("advise --help").out, AllOf(HasSubstr("--network"), HasSubstr("RATE")));
}

TEST_F(App, ReproduceKnowsTheNetwork) {
  EXPECT_THAT(dasgd("reproduce --help").out, HasSubstr("network"));
  expect_refusal("reproduce netwrok", "network");
  expect_refusal("reproduce network --lr 0.1",
                 "--seeds and --lr are settings of Figure 2, not of network");
  expect_refusal("reproduce network --device cpu", "not of network");
  const Outcome other = dasgd("reproduce network --quick --workers 17 --out " + out());
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("--workers 17: network has 16, 64"));
  EXPECT_FALSE(std::filesystem::exists(out()));
}

}  // namespace
}  // namespace dasgd::test
