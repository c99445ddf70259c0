#include "dasgd/adapters/torch/blas.hpp"

#include <ATen/ATen.h>
#include <fstream>
#include <gtest/gtest.h>
#include <list>
#include <new>
#include <sys/resource.h>
#include <thread>

namespace dasgd::torch_adapter {
namespace {

rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * 4096;
}

/// Until it goes, this process has little memory beyond what it has now.
class Short {
 public:
  explicit Short(rlim_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit now{address_space() + more, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~Short() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

constexpr rlim_t mebibyte = rlim_t{1} << 20;

// Without the callers one of the threads would look for memory until its process is killed.
TEST(Blas, CallersMeetWhereThereIsNoMemoryForMoreBuffers) {
  const at::Tensor a = at::ones({600, 600});
  std::list<BlasCaller> callers(4);
  std::vector<at::Tensor> products(callers.size());
  const Short little(16 * mebibyte + callers.size() * 9 * mebibyte);  // stacks, products
  std::vector<std::thread> threads;
  for (at::Tensor& product : products)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) product = a.mm(a);
    });
  for (std::thread& thread : threads) thread.join();
  for (const at::Tensor& product : products)
    EXPECT_EQ(product.sum().item<float>(), 600.F * 600 * 600);
}

TEST(Blas, WithoutMemoryForItsBufferACallerIsRefused) {
  if (blas_is_serial()) GTEST_SKIP() << "all callers share the one buffer";
  std::list<BlasCaller> callers;
  const Short little(16 * mebibyte);
  EXPECT_THROW(
      {
        for (int k = 0; k < 40; ++k) callers.emplace_back();
      },
      std::bad_alloc);
}

TEST(Blas, BuffersOfCallersThatAreGoneAreUsedAgain) {
  { const std::list<BlasCaller> some(5); }
  const rlim_t before = address_space();
  for (int k = 0; k < 20; ++k) const std::list<BlasCaller> some(5);
  EXPECT_LT(address_space(), before + 64 * mebibyte);
}

}  // namespace
}  // namespace dasgd::torch_adapter
