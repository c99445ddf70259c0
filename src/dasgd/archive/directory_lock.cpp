#include "dasgd/archive/directory_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "dasgd/core/error.hpp"

namespace dasgd {

DirectoryLock::DirectoryLock(const std::string& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  // A file system without locks is used without one.
  if (descriptor_ < 0 || ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
    return;
  ::close(descriptor_);
  throw InputError(path + ": another dasgd is running in this directory");
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace dasgd
