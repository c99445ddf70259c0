#include "app/app.hpp"

namespace dasgd::test {
namespace {

TEST_F(App, ReproducesTheQuadraticFigure) {
  const Outcome outcome = dasgd("reproduce quadratic --quick --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("S_max"), HasSubstr("0.002   100")));
  for (const char* file : {"quadratic.csv", "quadratic.json", "quadratic.svg"})
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
}

TEST_F(App, ReproducesStalenessOnGraphsAndTheBurst) {
  const Outcome outcome = dasgd("reproduce topology --quick --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("torus:5x5, relay on application"), HasSubstr("BROKEN"),
                                 HasSubstr("0, 1, 2, 3, then 68 times 0")));
  for (const char* file : {"topology.csv", "topology.json", "topology.svg", "burst.json"})
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
  EXPECT_EQ(dasgd("check " + out() + "/burst.jsonl").status, 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // minutes there
TEST_F(App, ReproducesAllInDirectoriesOfTheirOwn) {
  const Outcome outcome =  // the figure that takes minutes needs data that are not there
      shell("env DASGD_DATA=" + directory.file("none") + " " +
            command("reproduce all --quick --out " + out()));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  for (const std::string what : {"quadratic", "logistic", "topology"})
    EXPECT_TRUE(fs::exists(out() + "/" + what + "/" + what + ".svg")) << what;
}
#endif

TEST_F(App, SaysWhichExperimentsThereAre) {
  expect_refusal("reproduce topologie", "did you mean \"topology\"?");
  expect_refusal("reproduce", "name an experiment: quadratic, logistic, topology, cifar, all");
}

}  // namespace
}  // namespace dasgd::test
