#include "dasgd/base/files/reserved_room.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dasgd/base/files/atomic_file.hpp"

namespace dasgd {

ReservedRoom::ReservedRoom(const std::string& directory, std::uint64_t bytes) {
  const std::string name = directory + "/.reserve";
  descriptor_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor_ < 0) return;  // whoever writes there next says what is wrong
  ::unlink(name.c_str());
  rlimit largest{};  // of one file: beyond it the signal SIGXFSZ comes
  if (::getrlimit(RLIMIT_FSIZE, &largest) == 0)
    bytes = std::min<std::uint64_t>(bytes, largest.rlim_cur);
  int failed = 0;
  do {
    failed = ::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes));
  } while (failed != 0 && errno == EINTR);
  if (failed == 0 || (errno != ENOSPC && errno != EDQUOT)) return;
  release();
  throw WriteError(
      fmt::format("{}: has no room for {:.1f} MB", directory, 1e-6 * static_cast<double>(bytes)));
}

void ReservedRoom::release() {
  if (descriptor_ < 0) return;
  // At once: some file systems free the room of a closed file later.
  [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, 0);
  ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace dasgd
