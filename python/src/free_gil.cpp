#include "free_gil.hpp"

#include <atomic>
#include <chrono>
#include <pthread.h>
#include <thread>

namespace dasgd::python {
namespace {

std::atomic<int> inside{0};
std::atomic<bool> leaving{false};

// A fork has none of the threads that were in here.
const int at_fork = ::pthread_atfork(nullptr, nullptr, [] { inside.store(0); });

}  // namespace

FreeGil::FreeGil() {
  ++inside;
  if (!leaving.load()) release_.emplace();
}

FreeGil::~FreeGil() {
  release_.reset();
  --inside;
}

bool is_leaving() { return leaving.load(); }

void leave_python() {
  leaving.store(true);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (inside.load() > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace dasgd::python
