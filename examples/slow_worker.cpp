// One of four workers is ten times slower. Nobody waits for it, and nothing of it is lost.
#include <cstdio>

#include <dasgd/dasgd.hpp>

int main() {
  using namespace std::chrono_literals;
  const auto result = dasgd::train(dasgd::Logistic::random(1), {.workers = 4,
                                                                .eta = 0.05,
                                                                .batch = 0,
                                                                .max_time = 1s,
                                                                .slow = {{dasgd::WorkerId{3}, 10}},
                                                                .compute = 2ms});
  const auto& made = result.summary.gradients_by_worker;
  std::printf("the slow worker made %s, each other one at least four times as many\n",
              made[3] > 0 ? "some" : "none");
  for (int i = 0; i < 3; ++i)
    if (made[i] < 4 * made[3]) std::printf("worker %d made only %u of %u\n", i, made[i], made[3]);
  std::printf("lost %llu, duplicated %llu, replicas identical: %s\n",
              static_cast<unsigned long long>(result.summary.lost),
              static_cast<unsigned long long>(result.summary.duplicated),
              result.summary.replicas_identical ? "yes" : "no");
}
