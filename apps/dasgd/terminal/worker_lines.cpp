#include "terminal/worker_lines.hpp"

#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "terminal/output.hpp"

namespace dasgd::app {

int WorkerLines::open(std::size_t worker, bool is_error) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a worker");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  sources_.emplace(ends[0], Source{worker, is_error, {}});
  return ends[1];
}

void WorkerLines::pass_on(int milliseconds) {
  std::vector<pollfd> all;
  for (const auto& [descriptor, source] : sources_) all.push_back({descriptor, POLLIN, 0});
  ::poll(all.data(), all.size(), milliseconds);
  for (const pollfd& one : all)
    if (one.revents != 0) read(one.fd);
}

void WorkerLines::read(int descriptor) {
  Source& source = sources_.at(descriptor);
  char bytes[65536];
  const ssize_t count = ::read(descriptor, bytes, sizeof(bytes));
  if (count < 0) return;
  source.waiting.append(bytes, static_cast<std::size_t>(count));
  if (count == 0 && !source.waiting.empty()) source.waiting += '\n';
  std::string told;
  std::size_t begin = 0;
  for (std::size_t end; (end = source.waiting.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    told += fmt::format("[{}] {}\n", source.worker, source.waiting.substr(begin, end - begin));
  source.waiting.erase(0, begin);
  if (source.is_error) {
    print_note_text(told);
  } else {
    print_result_text(told);
    std::fflush(stdout);
  }
  if (count > 0) return;
  ::close(descriptor);
  sources_.erase(descriptor);
}

}  // namespace dasgd::app
