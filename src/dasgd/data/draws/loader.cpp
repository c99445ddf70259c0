#include "dasgd/data/draws/loader.hpp"

namespace dasgd {

void Loader::work(std::stop_token end) {
  for (;;) {
    std::unique_lock lock(mutex_);
    if (!ready_.wait(lock, end, [this] { return !queue_.empty(); })) return;
    const auto batch = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    try {
      batch->get();
    } catch (...) {
      // Whoever needs the batch gathers it again and gets the same failure where it can be
      // reported.
    }
  }
}

}  // namespace dasgd
