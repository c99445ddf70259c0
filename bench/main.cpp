// make bench: every figure that the documentation claims, as ratios from this run on this machine.
#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
