#include "dasgd/record/trace/trace_writer.hpp"

#include <chrono>
#include <fmt/format.h>
#include <iterator>

namespace dasgd {
namespace {

constexpr std::size_t lines_at_once = 8192;

void append(fmt::memory_buffer& out, const TraceLine& line) {
  const auto to = std::back_inserter(out);
  fmt::format_to(
      to, R"({{"ev":"apply","worker":{},"step":{},"origin":{},"seq":{},"origin_step":{},"time":{})",
      index(line.worker), line.step, index(line.name.origin), line.name.sequence, line.origin_step,
      line.time.value_or(0));
  if (line.start) fmt::format_to(to, R"(,"start":{})", *line.start);
  fmt::format_to(to, R"(,"S":{},"S_hat":)", line.S.value_or(0));
  if (line.S_hat) {
    fmt::format_to(to, "{}", *line.S_hat);
  } else {
    fmt::format_to(to, "null");
  }
  fmt::format_to(to, "}}\n");
}

}  // namespace

std::string to_json(const TraceLine& line) {
  fmt::memory_buffer out;
  append(out, line);
  return fmt::to_string(out);
}

TraceWriter::TraceWriter(const std::string& path, std::size_t workers, Lost lost)
    : file_(path),
      queue_(workers, most_waiting),
      lost_(std::move(lost)),
      thread_([this] { run(); }) {}

TraceWriter::~TraceWriter() { queue_.close(); }

std::exception_ptr TraceWriter::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void TraceWriter::drain() {
  queue_.finish();
  if (thread_.joinable()) thread_.join();
}

void TraceWriter::finish(const std::string& last_line) {
  drain();
  if (file_) try {
      file_->write(last_line);
      file_->commit();
    } catch (const std::exception& error) {
      give_up(error);
    }
  if (failure_) std::rethrow_exception(failure_);
}

void TraceWriter::run() {
  try {
    while (queue_.wait(std::chrono::milliseconds(100))) {
      fmt::memory_buffer text;
      for (const TraceLine& line : queue_.take(lines_at_once)) append(text, line);
      file_->write({text.data(), text.size()});
      file_->flush();
    }
  } catch (const std::exception& error) {
    give_up(error);
  }
  queue_.close();
}

void TraceWriter::give_up(const std::exception& why) {
  file_.reset();
  if (lost_) return lost_(why.what());
  const std::lock_guard lock(mutex_);
  failure_ = std::current_exception();
}

}  // namespace dasgd
