#include "dasgd/record/trace_writer.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <tuple>

namespace dasgd {
namespace {

void append(fmt::memory_buffer& out, const TraceLine& line) {
  const auto to = std::back_inserter(out);
  fmt::format_to(
      to, R"({{"ev":"apply","worker":{},"step":{},"origin":{},"seq":{},"origin_step":{},"time":{})",
      index(line.worker), line.step, index(line.name.origin), line.name.sequence, line.origin_step,
      line.time);
  if (line.start) fmt::format_to(to, R"(,"start":{})", *line.start);
  fmt::format_to(to, R"(,"S":{},"S_hat":)", line.S);
  if (line.S_hat) {
    fmt::format_to(to, "{}", *line.S_hat);
  } else {
    fmt::format_to(to, "null");
  }
  fmt::format_to(to, "}}\n");
}

// By time; at equal times a computation stands before the applications elsewhere.
bool earlier(const TraceLine& a, const TraceLine& b) {
  const auto key = [](const TraceLine& l) {
    return std::tuple(l.time, l.worker != l.name.origin, l.worker);
  };
  return key(a) < key(b);
}

}  // namespace

std::string to_json(const TraceLine& line) {
  fmt::memory_buffer out;
  append(out, line);
  return fmt::to_string(out);
}

TraceWriter::TraceWriter(const std::string& path, std::size_t workers)
    : file_(path), sources_(workers), thread_([this] { run(); }) {}

TraceWriter::~TraceWriter() {
  const std::lock_guard lock(mutex_);
  finishing_ = true;
  changed_.notify_one();
}

void TraceWriter::add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) {
  const std::lock_guard lock(mutex_);
  if (failure_) return;
  Source& source = sources_[index(worker)];
  source.lines.insert(source.lines.end(), lines.begin(), lines.end());
  source.up_to = std::max(source.up_to, up_to);
}

bool TraceWriter::failed() const {
  const std::lock_guard lock(mutex_);
  return failure_ != nullptr;
}

void TraceWriter::finish(const std::string& last_line) {
  {
    const std::lock_guard lock(mutex_);
    finishing_ = true;
    changed_.notify_one();
  }
  thread_.join();
  if (failure_) std::rethrow_exception(failure_);
  file_.write(last_line);
  file_.commit();
}

std::vector<TraceLine> TraceWriter::take_ready() {
  Nanoseconds safe = std::numeric_limits<Nanoseconds>::max();
  if (!finishing_)
    for (const Source& source : sources_) safe = std::min(safe, source.up_to);
  // Merges the sources; the lines of one worker keep their order.
  std::vector<TraceLine> ready;
  const auto later = [](const Source* a, const Source* b) {
    return earlier(b->lines.front(), a->lines.front());
  };
  std::vector<Source*> heap;
  const auto offer = [&](Source& source) {
    if (source.lines.empty() || source.lines.front().time >= safe) return;
    heap.push_back(&source);
    std::push_heap(heap.begin(), heap.end(), later);
  };
  for (Source& source : sources_) offer(source);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    Source& source = *heap.back();
    heap.pop_back();
    ready.push_back(source.lines.front());
    source.lines.pop_front();
    offer(source);
  }
  return ready;
}

void TraceWriter::run() {
  std::unique_lock lock(mutex_);
  try {
    for (bool last = false; !last;) {
      changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return finishing_; });
      last = finishing_;
      const std::vector<TraceLine> ready = take_ready();
      if (ready.empty()) continue;
      lock.unlock();
      fmt::memory_buffer text;
      for (const TraceLine& line : ready) append(text, line);
      file_.write({text.data(), text.size()});
      file_.flush();
      lock.lock();
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    failure_ = std::current_exception();
  }
}

}  // namespace dasgd
