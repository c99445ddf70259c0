// The paper's Figure 2 on real ranks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <nlohmann/json.hpp>

#include "mpi/mpi_app.hpp"
#include "support/tiny_images.hpp"

namespace dasgd::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(MpiApp, RefusesExperimentsThatAreNotForRanks) {
  const Outcome refused = mpirun(2, "reproduce topology --quick --out " + out());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("dasgd: only cifar, quadratic and logistic can be repeated on MPI ranks"));
  EXPECT_EQ(refused.err.find("dasgd: "), refused.err.rfind("dasgd: ")) << refused.err;
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(MpiApp, ReproducesTheQuadraticFigureOnTwoRanks) {
  const Outcome refused = mpirun(3, "reproduce quadratic --quick --out " + out());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("start it on 2 ranks, not 3"));
  const Outcome outcome = mpirun(2, "reproduce quadratic --quick --out " + out());
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json points = json::parse(read_text(out() + "/quadratic.json"));
  ASSERT_EQ(points.size(), 4u);
  for (const json& point : points) EXPECT_EQ(point["way"], "mpi");
  EXPECT_EQ(points[0]["workers"].size(), 1u);
  EXPECT_EQ(points[1]["workers"].size(), 2u);
}

#if DASGD_TORCH
TEST_F(MpiApp, ReproducesFigureCForAllNumbersOfWorkersUpToTheRanks) {
  fs::create_directories(directory.file("data/cifar10"));
  const TemporaryDirectory files;
  write_tiny_cifar10(files, 40);
  for (const auto& file : fs::directory_iterator(files.path()))
    fs::copy(file.path(), directory.file("data/cifar10"));
  const auto reproduce = [&] {
    return shell(
        "env DASGD_DATA=" + directory.file("data") + " timeout 200 " +
        command(3,
                "reproduce cifar --engine mpi --seeds 1 --target-loss 2.5 --compute +1ms --out " +
                    out()));
  };
  const Outcome first = reproduce();
  ASSERT_EQ(first.status, 0) << first.err;
  const json points = json::parse(read_text(out() + "/cifar.json"));
  ASSERT_EQ(points.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(points[k]["way"], "mpi");
    EXPECT_EQ(points[k]["workers"], k + 1);
    EXPECT_EQ(points[k]["reached"], 1) << points[k];
  }
  for (const char* file : {"cifar.csv", "cifar.svg"})
    EXPECT_TRUE(fs::exists(out() + "/" + file)) << file;
  EXPECT_THAT(read_text(out() + "/report.html"), HasSubstr("of the paper, on MPI ranks"));
  EXPECT_THAT(first.out, Not(HasSubstr("virtual")));
  EXPECT_THAT(first.out, HasSubstr("real: 1ms added to every gradient; "));
  std::map<fs::path, fs::file_time_type> kept;
  for (const auto& cell : fs::directory_iterator(out() + "/cells"))
    kept[cell.path()] = fs::last_write_time(cell);
  EXPECT_EQ(kept.size(), 3u);
  EXPECT_EQ(reproduce().status, 0);
  for (const auto& [cell, time] : kept) EXPECT_EQ(fs::last_write_time(cell), time) << cell;
}
#endif

}  // namespace
}  // namespace dasgd::test
