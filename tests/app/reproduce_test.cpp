#include <map>
#include <utility>

#include "app/app.hpp"
#include "support/tiny_images.hpp"

namespace dasgd::test {
namespace {

TEST_F(App, ReproducesTheQuadraticFigure) {
  const Outcome outcome = dasgd("reproduce quadratic --quick --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("0.002   100"),
                    HasSubstr("expects S_hat_max = x = 0, 1, 10, 100; here it is 0, 3, 11, 101")));
  for (const char* file : {"quadratic.csv", "quadratic.json", "quadratic.svg"})
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // minutes there
TEST_F(App, ReproducesTheQuadraticFigureOnThreads) {
  const Outcome outcome = dasgd("reproduce quadratic --engine threads --quick --out " + out());
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json points = json::parse(read_text(out() + "/quadratic.json"));
  ASSERT_EQ(points.size(), 4u);
  for (const json& point : points) EXPECT_EQ(point["way"], "threads");
  EXPECT_EQ(points[0]["workers"].size(), 1u);
  EXPECT_EQ(points[0]["S_hat_max"], 0);
  for (std::size_t i = 1; i < points.size();
       ++i) {  // how stale the stalest is depends on the machine, the mean does not
    EXPECT_EQ(points[i]["workers"].size(), 2u);
    EXPECT_GT(points[i]["S_avg"], 0.0);
    EXPECT_LE(points[i]["S_avg"], 1.0);
  }
}
#endif

TEST_F(App, ReproducesFigureAOnThreadsWithItsOwnSettingsAndGoesOnWithWhatIsKept) {
  const std::string without_target =
      "reproduce logistic --engine threads --slow 0,5 --seeds 2 --lr 0.2 --compute +100us --out " +
      out() + " --target-error ";
  const std::string command = without_target + "0.05";
  const Outcome outcome = dasgd(command);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("100us added to every gradient"),
                                 HasSubstr("T measured"), HasSubstr("Psi_T, 1st")));
  const json points = json::parse(read_text(out() + "/logistic.json"));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1]["slow"], 5);
  EXPECT_EQ(points[1]["eta"], 0.2);
  EXPECT_GT(points[1]["first_form_ratio"], 0);
  EXPECT_GT(points[1]["predicted_T_2"], points[1]["workers"][0]["iterations"]["mean"]);
  EXPECT_TRUE(fs::exists(out() + "/logistic.svg"));
  EXPECT_THAT(read_text(out() + "/report.html"), HasSubstr("on real threads"));
  std::map<fs::path, fs::file_time_type> kept;
  for (const auto& cell : fs::directory_iterator(out() + "/cells"))
    kept[cell.path()] = fs::last_write_time(cell);
  EXPECT_EQ(kept.size(), 4u);
  const std::string csv = read_text(out() + "/logistic.csv");
  fs::remove(out() + "/logistic.csv");
  EXPECT_EQ(dasgd(command).status, 0);
  EXPECT_EQ(read_text(out() + "/logistic.csv"), csv);
  for (const auto& [cell, time] : kept) EXPECT_EQ(fs::last_write_time(cell), time) << cell;
  EXPECT_EQ(dasgd(without_target + "0.1").status, 0);
  EXPECT_EQ(dasgd(command).status, 0);
  EXPECT_EQ(read_text(out() + "/logistic.csv"), csv) << "another setting has cells of its own";
  for (const auto& [cell, time] : kept) EXPECT_EQ(fs::last_write_time(cell), time) << cell;
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

#if DASGD_TORCH
// What was computed on another day or machine counts as if it had been computed here.
TEST_F(App, ReproducesFigureCOnATinySetFromPieces) {
  const TemporaryDirectory images;
  write_tiny_cifar10(images, 40);
  const std::string elsewhere = directory.file("elsewhere");
  const auto reproduce = [&](const std::string& workers, const std::string& to) {
    const Outcome outcome = dasgd("reproduce cifar --seeds 1 --target-loss 2.5 --data " +
                                  images.path() + " --workers " + workers + " --out " + to);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
  };
  reproduce("1", out());
  reproduce("2", elsewhere);
  for (const auto& cell : fs::directory_iterator(elsewhere + "/cells"))
    fs::copy(cell.path(), out() + "/cells");
  std::map<fs::path, fs::file_time_type> kept;
  for (const auto& cell : fs::directory_iterator(out() + "/cells"))
    kept[cell.path()] = fs::last_write_time(cell);
  reproduce("1,2 --device cuda", out());  // nothing is left to be computed there
  EXPECT_EQ(json::parse(read_text(out() + "/cifar.json")).size(), 2u);
  EXPECT_THAT(read_text(out() + "/report.html"), HasSubstr("of the paper, in virtual time\""));
  reproduce("1,2", out());
  for (const auto& [cell, time] : kept) EXPECT_EQ(fs::last_write_time(cell), time) << cell;
  const json points = json::parse(read_text(out() + "/cifar.json"));
  std::map<std::pair<std::string, int>, double> seconds;
  for (const json& point : points) {
    EXPECT_EQ(point["reached"], 1) << point;
    EXPECT_EQ(point["S_hat_max"], point["S_max"]) << "delivery is causal";
    seconds[{point["way"], point["workers"]}] = point["seconds"];
  }
  EXPECT_LT((seconds[{"virtual", 2}]), 1.1 * (seconds[{"virtual", 1}]));
  EXPECT_TRUE(seconds.count({"threads", 1}));
  for (const char* file : {"cifar.csv", "cifar.svg", "report.html"})
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
  reproduce("1,2 --engine threads", out());  // those of virtual time are kept
  EXPECT_EQ(json::parse(read_text(out() + "/cifar.json")), points);
}

TEST_F(App, ReproducesFigureCOnThreadsAlone) {
  const TemporaryDirectory images;
  write_tiny_cifar10(images, 40);
  const Outcome outcome =
      dasgd("reproduce cifar --engine threads --seeds 1 --target-loss 2.5 --compute 1ms --data " +
            images.path() + " --workers 1,2 --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("virtual")));
  for (const json& point : json::parse(read_text(out() + "/cifar.json")))
    EXPECT_EQ(point["way"], "threads");
}
#endif

TEST_F(App, SaysWhichExperimentsThereAre) {
  expect_refusal("reproduce topology --workers 3", "are settings of cifar, not of topology");
  expect_refusal("reproduce network --device cpu",
                 "dasgd: --target-loss, --give-up, --data, --scale and --device are settings of "
                 "cifar, not of network");
  expect_refusal("reproduce cifar --slow 3", "settings of quadratic and logistic, not of cifar");
  expect_refusal("reproduce quadratic --compute 10ms", "--compute is for real time");
  expect_refusal("reproduce cifar --device cuda --compute 10ms", "add --engine threads");
  expect_refusal("reproduce rivals --seeds 3", "settings of Figure 2, not of rivals");
  expect_refusal("reproduce logistic --slow -1", "--slow");
  expect_refusal("reproduce logistic --engine threads --compute soon", "soon");
  expect_refusal("reproduce cifar --workers 0", "--workers");
  expect_refusal("reproduce quadratic --device cuda", "settings of cifar, not of quadratic");
  expect_refusal("reproduce cifar --scale 256", "--scale");
  expect_refusal("reproduce cifar --device tpu", "--device");
  expect_refusal("reproduce cifar --data none-such", "none-such");
  expect_refusal("reproduce topologie", "did you mean \"topology\"?");
  expect_refusal("reproduce",
                 "name an experiment: quadratic, logistic, topology, cifar, rivals, network, all");
}

}  // namespace
}  // namespace dasgd::test
