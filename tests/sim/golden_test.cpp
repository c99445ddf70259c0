// Small simulations to the byte: what happens when, on the graphs and links people use. The
// instants of the ring, the slow worker and the narrow links were worked out by hand.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/record/trace/trace_reader.hpp"
#include "dasgd/record/trace/trace_writer.hpp"
#include "dasgd/sim/simulate.hpp"
#include "dasgd/staleness/trace_check.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

struct Golden {
  std::string name;
  TrainOptions options;
  VirtualWorld world;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

std::vector<Golden> goldens() {
  const VirtualWorld plain{
      .compute = TimeModel::constant(1000), .latency = TimeModel::constant(100), .apply = 10};
  VirtualWorld narrow = plain;  // a frame of 144 bytes takes 1440 ns, longer than a gradient
  narrow.bandwidth = 1e8;
  VirtualWorld disturbed = plain;
  disturbed.chaos.drop = disturbed.chaos.duplicate = disturbed.chaos.reorder = 0.3;
  disturbed.chaos.resend_after = 500;
  disturbed.chaos.pauses = {{WorkerId{2}, 1500, 2000}};
  return {
      {"ring_apply",
       {.workers = 4, .topology = "ring", .relay = RelayMode::apply, .gradients = {3}},
       plain},
      {"star_arrival", {.workers = 4, .topology = "star", .gradients = {3}}, plain},
      {"slow_worker", {.workers = 2, .gradients = {12, 3}, .slow = {{WorkerId{1}, 4}}}, plain},
      {"bandwidth", {.workers = 3, .gradients = {3}}, narrow},
      {"chaos", {.workers = 3, .gradients = {3}}, disturbed},
  };
}

class GoldenTrace : public ::testing::TestWithParam<Golden> {};
INSTANTIATE_TEST_SUITE_P(Sim, GoldenTrace, ::testing::ValuesIn(goldens()),
                         [](const auto& info) { return info.param.name; });

/// DASGD_WRITE_GOLDEN=1 writes the files again; look at what changed before you keep it.
TEST_P(GoldenTrace, IsTheSameToTheByte) {
  const std::string path =
      std::string(DASGD_SOURCE_DIR "/tests/sim/golden/") + GetParam().name + ".jsonl";
  const test::TemporaryDirectory directory;
  TraceWriter writer(directory.file("t"), 1);
  TrainOptions options = GetParam().options;
  options.eta = 0.001;
  options.trace = &writer;
  simulate(Quadratic::random(1), options, GetParam().world);
  writer.finish();
  const std::string trace = test::read_text(directory.file("t"));
  if (std::getenv("DASGD_WRITE_GOLDEN")) std::ofstream(path, std::ios::binary) << trace;
  EXPECT_EQ(trace, test::read_text(path));
  EXPECT_TRUE(check_trace(read_trace(path).applications).ok());
}

}  // namespace
}  // namespace dasgd
