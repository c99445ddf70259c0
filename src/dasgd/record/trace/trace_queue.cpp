#include "dasgd/record/trace/trace_queue.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace dasgd {
namespace {

// By time; at equal times a computation stands before the applications elsewhere.
bool earlier(const TraceLine& a, const TraceLine& b) {
  const auto key = [](const TraceLine& l) {
    return std::tuple(l.time, l.worker != l.name.origin, l.worker);
  };
  return key(a) < key(b);
}

}  // namespace

void TraceQueue::add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) {
  std::unique_lock lock(mutex_);
  Source& source = sources_[index(worker)];
  source.up_to = std::max(source.up_to, up_to);
  if (lines.empty()) return;
  room_.wait(lock, [this] { return waiting_ < most_ || closed_; });
  if (closed_) return;
  waiting_ += lines.size();
  source.lines.insert(source.lines.end(), lines.begin(), lines.end());
  if (waiting_ >= worth_taking_) work_.notify_one();
}

bool TraceQueue::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  work_.wait_for(lock, patience,
                 [this] { return finishing_ || closed_ || waiting_ >= worth_taking_; });
  return !closed_ && !(finishing_ && waiting_ == 0);
}

Nanoseconds TraceQueue::safe() const {
  Nanoseconds safe = std::numeric_limits<Nanoseconds>::max();
  for (const Source& source : sources_) safe = std::min(safe, source.up_to);
  return safe;
}

// Merges the sources; the lines of one worker keep their order.
std::vector<TraceLine> TraceQueue::take(std::size_t limit) {
  std::vector<TraceLine> ready;
  const std::lock_guard lock(mutex_);
  const Nanoseconds before = safe();
  const auto later = [](const Source* a, const Source* b) {
    return earlier(b->lines.front(), a->lines.front());
  };
  std::vector<Source*> heap;
  const auto offer = [&](Source& source) {
    if (source.lines.empty()) return;
    heap.push_back(&source);
    std::push_heap(heap.begin(), heap.end(), later);
  };
  for (Source& source : sources_) offer(source);
  if (waiting_ >= most_) overdue_ = std::max(overdue_, most_ - most_ / 2);
  for (; !heap.empty() && ready.size() < limit; --waiting_) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Source& source = *heap.back();
    heap.pop_back();
    const bool in_order = finishing_ || source.lines.front().time < before;
    if (!in_order && overdue_ == 0) break;
    overdue_ -= overdue_ > 0 ? 1 : 0;
    ready.push_back(source.lines.front());
    source.lines.pop_front();
    offer(source);
  }
  worth_taking_ = ready.empty() ? most_ : ready.size() == limit ? 0 : most_ / 2;
  if (!ready.empty()) room_.notify_all();
  return ready;
}

void TraceQueue::finish() {
  const std::lock_guard lock(mutex_);
  finishing_ = true;
  work_.notify_one();
}

void TraceQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (Source& source : sources_) source.lines.clear();
  waiting_ = 0;
  room_.notify_all();
  work_.notify_one();
}

std::size_t TraceQueue::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace dasgd
