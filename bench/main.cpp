// make bench: every figure that the documentation claims, as ratios from this run on this machine.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "noise.hpp"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const dasgd::bench::Noise noise;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  fmt::print("{}", noise.report());
}
