#include "dasgd/adapters/torch/blas.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fstream>
#include <gtest/gtest.h>
#include <latch>
#include <list>
#include <new>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace dasgd::torch_adapter {
namespace {

rlim_t address_space() {
  rlim_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// AddressSanitizer ends a process whose memory is short.
#ifdef __SANITIZE_ADDRESS__
constexpr bool can_be_short = false;
#else
constexpr bool can_be_short = true;
#endif

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

// Without the callers one of the threads would look for memory for ever.
TEST(Blas, CallersMeetWhereThereIsNoMemoryForMoreBuffers) {
  if (!can_be_short) GTEST_SKIP() << "not with AddressSanitizer";
  if (!blas_has_buffers()) GTEST_SKIP() << "needs OpenBLAS, whose buffers it is about";
  one_blas_thread();  // as in runs: only callers compute
  const at::Tensor a = at::ones({600, 600});
  std::list<BlasCaller> callers(4);
  std::vector<at::Tensor> products(callers.size());
  std::latch ready(static_cast<std::ptrdiff_t>(callers.size())), go(1);
  std::vector<std::jthread> threads;
  for (at::Tensor& product : products)
    threads.emplace_back([&] {
      at::set_num_threads(1);
      product = at::zeros_like(a);  // what a thread needs once, beside the buffer, it has
      ready.count_down();
      go.wait();
      for (int k = 0; k < 50; ++k) {
        const auto alone = alone_if_blas_is_serial(at::kCPU);
        product = a.mm(a);
      }
    });
  ::alarm(300);
  ready.wait();
  {
    const Short little(64 * mebibyte);
    go.count_down();
    threads.clear();
  }
  ::alarm(0);
  for (const at::Tensor& product : products)
    EXPECT_EQ(product.sum().item<float>(), 600.F * 600 * 600);
}

TEST(Blas, WithoutMemoryForItsBufferACallerIsRefused) {
  if (!can_be_short) GTEST_SKIP() << "not with AddressSanitizer";
  if (!blas_has_buffers() || blas_is_serial()) GTEST_SKIP() << "needs OpenBLAS with threads";
  std::list<BlasCaller> callers;
  ::alarm(300);
  const Short little(16 * mebibyte);
  EXPECT_THROW(
      {
        for (int k = 0; k < 30; ++k) callers.emplace_back();
      },
      std::bad_alloc);
  ::alarm(0);
}

TEST(Blas, BuffersOfCallersThatAreGoneAreUsedAgain) {
  { const std::list<BlasCaller> some(5); }
  const rlim_t before = address_space();
  for (int k = 0; k < 20; ++k) const std::list<BlasCaller> some(5);
  EXPECT_LT(address_space(), before + 64 * mebibyte);
}

}  // namespace
}  // namespace dasgd::torch_adapter
