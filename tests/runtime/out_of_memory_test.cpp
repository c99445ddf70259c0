// Memory that runs out once, at any moment of a worker's step. Sanitizers have an allocator of
// their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <malloc.h>
#include <new>

#include "counted_memory.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/transport/gradient_pool.hpp"

namespace {

thread_local int allocations_left = -1;  // of this thread until one fails; -1: none does
std::atomic<std::size_t> in_use{0}, most_in_use{0}, in_use_before{0};

void count(void* memory) {
  const std::size_t now = in_use += ::malloc_usable_size(memory);
  std::size_t most = most_in_use;
  while (most < now && !most_in_use.compare_exchange_weak(most, now)) {
  }
}

}  // namespace

void* operator new(std::size_t size) {
  if (allocations_left >= 0 && allocations_left-- == 0) throw std::bad_alloc();
  void* const memory = std::malloc(size);
  if (!memory) throw std::bad_alloc();
  count(memory);
  return memory;
}
void operator delete(void* memory) noexcept {
  in_use -= ::malloc_usable_size(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }

std::size_t dasgd::test::most_bytes_since_last_call() {
  const std::size_t most = most_in_use - in_use_before;
  most_in_use = in_use_before = in_use.load();
  return most;
}

namespace dasgd {
namespace {

/// Lets an allocation of the worker's thread fail, so many after its tenth gradient.
class RunsOut final : public Objective<double> {
 public:
  explicit RunsOut(int after) : after_(after) {}
  std::size_t dimension() const override { return 2; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    for (std::size_t i = 0; i < x.size(); ++i) g[i] = x[i] - 1;
    if (++calls_ == 10) allocations_left = after_;
    return 1;
  }

 private:
  const int after_;
  mutable std::atomic<int> calls_{0};
};

TEST(OutOfMemory, ARunEndsWhereverMemoryRunsOutOnce) {
  int failed = 0;
  for (const char* topology : {"full", "ring"})
    for (const auto relay : {RelayMode::arrival, RelayMode::apply})
      for (int after = 0; after < 40; ++after) {
        const auto result = run_training<double>(
            RunsOut(after),
            {.workers = 4, .topology = topology, .relay = relay, .eta = 0.01, .gradients = {20}});
        if (!result.failure) {
          EXPECT_TRUE(result.summary.audit_is_clean()) << after;
          continue;
        }
        ++failed;
        EXPECT_THROW(std::rethrow_exception(result.failure), std::bad_alloc);
        EXPECT_EQ(result.summary.stop_reason, StopReason::failed);
      }
  EXPECT_GT(failed, 20);
}

TEST(OutOfMemory, GradientsGoBackToTheirPool) {
  const auto pool = GradientPool::create(8);
  std::vector<std::shared_ptr<Gradient>> out;
  for (int k = 0; k < 12; ++k) out.push_back(pool->take_beyond());
  allocations_left = 0;
  for (auto& gradient : out) gradient.reset();
  EXPECT_EQ(allocations_left, 0);
  allocations_left = -1;
  for (std::size_t k = 0; k < 8; ++k) out[k] = pool->take();
  EXPECT_EQ(pool->most_allocated(), 12u);
  EXPECT_EQ(pool->take(), nullptr);
}

}  // namespace
}  // namespace dasgd

#endif
