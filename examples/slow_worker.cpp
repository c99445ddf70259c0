// One of four workers is ten times slower. Nobody waits for it, and nothing of it is lost.
// In virtual time, so that every machine prints the same; with dasgd::train and without the world
// the same options run on threads.
#include <cstdio>

#include <dasgd/dasgd.hpp>

namespace {

void print_run(const char* what, const dasgd::RunSummary& run) {
  std::printf("%s:", what);
  for (const auto made : run.gradients_by_worker) std::printf(" %u", made);
  std::printf(" gradients; stalest %llu; lost %llu, duplicated %llu, replicas identical: %s\n",
              static_cast<unsigned long long>(run.staleness.S_max),
              static_cast<unsigned long long>(run.lost),
              static_cast<unsigned long long>(run.duplicated),
              run.replicas_identical ? "yes" : "no");
}

}  // namespace

int main() {
  using namespace std::chrono_literals;
  const auto problem = dasgd::Logistic::random(1);
  const dasgd::VirtualWorld world{.compute = dasgd::TimeModel::constant(2'000'000)};  // 2 ms
  dasgd::TrainOptions options{.workers = 4, .eta = 0.05, .batch = 0, .max_time = 1s};

  print_run("all alike", dasgd::simulate(problem, options, world).summary);
  options.slow = {{dasgd::WorkerId{3}, 10}};
  print_run("one is slow", dasgd::simulate(problem, options, world).summary);
}
