#include "dasgd/adapters/torch/blas.hpp"

#include <cstddef>
#include <dlfcn.h>
#include <new>
#include <set>
#include <sys/mman.h>
#include <vector>

namespace dasgd::torch_adapter {
namespace {

template <typename Function>
Function* of_openblas(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

// OpenBLAS has places for at least 50, of which its own threads have some. Only so many are made
// sure of: of more callers, as in a simulation with a thousand workers, hardly all compute at once.
constexpr std::size_t most_buffers = 32;

struct Buffers {
  std::mutex mutex;
  std::size_t callers = 0;
  std::set<const void*> known;
};

Buffers& buffers() {
  static auto* const all = new Buffers;  // callers may end later than the program
  return *all;
}

// Fails, unlike OpenBLAS, where there is no memory for another buffer.
void require_room() {
  constexpr std::size_t buffer = std::size_t{129} << 20;
  void* const room =
      ::mmap(nullptr, buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, buffer);
}

// OpenBLAS hands out the first buffer that nobody uses, and makes one where there is none.
void add_buffer(std::set<const void*>& known) {
  if (!blas_has_buffers()) return;
  auto* const take = of_openblas<void*(int)>("blas_memory_alloc");
  auto* const give_back = of_openblas<void(void*)>("blas_memory_free");
  struct Held {
    void (*give_back)(void*);
    std::vector<void*> all;
    ~Held() {
      for (void* one : all) give_back(one);
    }
  } held{give_back, {}};
  held.all.reserve(known.size() + 1);
  for (bool is_new = false; !is_new && held.all.size() <= known.size();) {
    require_room();
    void* const buffer = take(0);
    if (!buffer) return;  // it has no more places
    held.all.push_back(buffer);
    is_new = known.insert(buffer).second;
  }
}

}  // namespace

bool blas_has_buffers() {
  return ::dlsym(RTLD_DEFAULT, "blas_memory_alloc") && ::dlsym(RTLD_DEFAULT, "blas_memory_free");
}

void one_blas_thread() {
  if (auto* const set_threads = of_openblas<void(int)>("openblas_set_num_threads")) set_threads(1);
}

bool blas_is_serial() {
  static const bool serial = [] {
    auto* const parallel = of_openblas<int()>("openblas_get_parallel");
    return parallel && parallel() == 0;
  }();
  return serial;
}

std::unique_lock<std::mutex> alone_if_blas_is_serial(const c10::Device& device) {
  static std::mutex one_at_a_time;
  return device.is_cpu() && blas_is_serial() ? std::unique_lock(one_at_a_time)
                                             : std::unique_lock<std::mutex>();
}

BlasCaller::BlasCaller() {
  Buffers& all = buffers();
  const auto alone = alone_if_blas_is_serial(at::kCPU);
  const std::lock_guard lock(all.mutex);
  const std::size_t most = blas_is_serial() ? 1 : most_buffers;
  if (all.known.size() <= all.callers && all.known.size() < most) add_buffer(all.known);
  ++all.callers;
}

BlasCaller::~BlasCaller() {
  Buffers& all = buffers();
  const std::lock_guard lock(all.mutex);
  --all.callers;
}

}  // namespace dasgd::torch_adapter
