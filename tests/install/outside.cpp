// A program outside the project: everything it needs comes with one include and one target.
#include <cstdio>

#include <dasgd/dasgd.hpp>

int main() {
  const auto result = dasgd::train(dasgd::Quadratic::random(3), {.workers = 3, .eta = 0.02});
  std::printf("replicas identical: %d\n", result.summary.replicas_identical);
  return result.summary.audit_is_clean() ? 0 : 1;
}
