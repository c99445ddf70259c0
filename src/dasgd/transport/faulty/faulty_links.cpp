#include "dasgd/transport/faulty/faulty_links.hpp"

#include <chrono>
#include <limits>

namespace dasgd::faulty {
namespace {

/// In one process a frame takes no time; this is how far chaos moves those that it touches.
constexpr Nanoseconds spread = 1'000'000;
/// When frames are due that nothing holds back.
constexpr Nanoseconds overdue = std::numeric_limits<Nanoseconds>::min();

}  // namespace

FaultyLinks::FaultyLinks(const Chaos& chaos, const Graph& graph, std::uint64_t seed,
                         std::function<Nanoseconds()> clock, Arrival arrival, Failed failed)
    : chaos_(chaos),
      seed_(seed),
      clock_(std::move(clock)),
      arrival_(std::move(arrival)),
      failed_(std::move(failed)) {
  for (std::size_t i = 0; i < graph.workers(); ++i)
    for (const WorkerId to : graph.neighbours(worker_id(i)))
      links_.emplace(std::pair(worker_id(i), to),
                     DisturbedLink(worker_id(i), to, static_cast<std::uint32_t>(links_.size())));
  thread_ = std::jthread([this](const std::stop_token& end) { run(end); });
}

void FaultyLinks::carry(WorkerId from, WorkerId to, const Frame& frame) {
  const std::lock_guard lock(mutex_);
  if (nothing_is_held_) {
    due_.push({overdue, sent_++, from, to, frame});
    changed_.notify_one();
    return;
  }
  DisturbedLink& link = links_.at({from, to});
  Random random = link.next_frame(seed_);
  const Nanoseconds leaves = link.leaves(chaos_, random, clock_());
  const auto arrivals = link.arrives(chaos_, random, leaves, spread);
  due_.push({arrivals.first, sent_++, from, to, frame});
  if (arrivals.copy) due_.push({*arrivals.copy, sent_++, from, to, frame});
  changed_.notify_one();
}

// The order of what was held becomes its order of sending, so that nothing sent from now on can
// overtake it.
void FaultyLinks::deliver_held_back() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(nothing_is_held_, true)) return;
  for (auto held = std::exchange(due_, {}); !held.empty(); held.pop()) {
    Due next = held.top();
    next.time = overdue;
    next.order = sent_++;
    due_.push(std::move(next));
  }
  changed_.notify_one();
}

void FaultyLinks::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void FaultyLinks::run(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  while (!end.stop_requested()) {
    if (due_.empty()) {
      changed_.wait(lock, end, [this] { return !due_.empty(); });
      continue;
    }
    const Nanoseconds now = clock_(), time = due_.top().time;
    if (time > now) {  // until then, or until an earlier one comes
      const std::uint64_t known = sent_;
      changed_.wait_for(lock, end, std::chrono::nanoseconds(time - now),
                        [&] { return sent_ != known; });
      continue;
    }
    const Due next = due_.top();
    due_.pop();
    lock.unlock();
    try {
      arrival_(next.from, next.to, next.frame);
    } catch (...) {
      failed_(std::current_exception());
    }
    lock.lock();
  }
}

}  // namespace dasgd::faulty
