#include "terminal/worker_lines.hpp"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

constexpr std::chrono::milliseconds pause(50);  // ends a block
constexpr std::size_t largest_block = 1 << 16;

}  // namespace

int WorkerLines::open(std::size_t worker, bool is_error) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("cannot create a pipe for a worker");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  sources_.emplace(ends[0], Source{worker, is_error});
  return ends[1];
}

// Open at both ends, so that a worker neither waits to open it nor ends it for others.
void WorkerLines::open(std::size_t worker, bool is_error, const std::string& fifo) {
  const int file = ::mkfifo(fifo.c_str(), 0600) == 0
                       ? ::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)
                       : -1;
  if (file < 0) throw std::runtime_error("cannot create a pipe for a worker: " + fifo);
  sources_.emplace(file, Source{worker, is_error});
}

void WorkerLines::pass_on(int milliseconds) {
  std::vector<pollfd> all;
  for (const auto& [descriptor, source] : sources_) {
    all.push_back({descriptor, POLLIN, 0});
    if (!source.block.empty()) milliseconds = std::min(milliseconds, 10);
  }
  ::poll(all.data(), all.size(), milliseconds);
  for (const pollfd& one : all)
    if (one.revents != 0) read(one.fd);
  for (auto& [descriptor, source] : sources_)
    if (Clock::now() - source.last >= pause || source.block.size() > largest_block)
      pass_block(source);
}

void WorkerLines::finish() {
  for (auto at = sources_.begin(); at != sources_.end();) {
    const int descriptor = (at++)->first;
    while (read(descriptor)) continue;
  }
  for (auto& [descriptor, source] : sources_) {
    if (!source.waiting.empty())
      source.block += fmt::format("[{}] {}\n", source.worker, std::exchange(source.waiting, {}));
    pass_block(source);
  }
}

// False when there is nothing now.
bool WorkerLines::read(int descriptor) {
  Source& source = sources_.at(descriptor);
  char bytes[65536];
  const ssize_t count = ::read(descriptor, bytes, sizeof(bytes));
  if (count < 0) return false;
  std::size_t begin = 0, from = source.waiting.size();
  source.waiting.append(bytes, static_cast<std::size_t>(count));
  if (count == 0 && !source.waiting.empty()) source.waiting += '\n';
  for (std::size_t end; (end = source.waiting.find('\n', from)) != std::string::npos;
       from = begin = end + 1)
    source.block +=
        fmt::format("[{}] {}\n", source.worker, source.waiting.substr(begin, end - begin));
  source.waiting.erase(0, begin);
  if (source.waiting.size() > largest_block)  // no line: it has no end
    source.block += fmt::format("[{}] {}\n", source.worker, std::exchange(source.waiting, {}));
  source.last = Clock::now();
  if (!source.is_error || count == 0) pass_block(source);
  if (count > 0) return true;
  ::close(descriptor);
  sources_.erase(descriptor);
  return false;
}

void WorkerLines::pass_block(Source& source) {
  if (source.block.empty()) return;
  const std::string block = std::exchange(source.block, {});
  if (source.is_error) {
    print_note_text(block);
  } else {
    print_result_text(block);
    std::fflush(stdout);
  }
}

}  // namespace dasgd::app
