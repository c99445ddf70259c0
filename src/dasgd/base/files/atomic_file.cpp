#include "dasgd/base/files/atomic_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace dasgd {
namespace {

// A name that is taken by something else stays taken: O_EXCL follows no link.
std::FILE* open_new(const std::string& path) {
  struct stat old {};
  if (::lstat(path.c_str(), &old) == 0 && S_ISREG(old.st_mode) && old.st_uid == ::geteuid())
    ::unlink(path.c_str());
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor < 0) return nullptr;
  std::FILE* const file = ::fdopen(descriptor, "wb");
  if (!file) ::close(descriptor);
  return file;
}

// A device, a pipe or what /dev/stdout leads to: nothing that a file may take the place of.
bool is_no_place_for_a_file(const std::string& path) {
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0 || S_ISDIR(there.st_mode)) return false;
  const bool own_stream = path.starts_with("/dev/std") || path.starts_with("/dev/fd/");
  return !S_ISREG(there.st_mode) || own_stream;
}

std::FILE* open_straight(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  return descriptor < 0 ? nullptr : ::fdopen(descriptor, "wb");
}

// Some file systems cannot; that is not a failure of this file.
bool sync(int descriptor) {
  while (::fsync(descriptor) != 0)
    if (errno != EINTR) return errno == EINVAL;
  return true;
}

bool sync_directory_of(const std::string& path) {
  const auto directory = std::filesystem::path(path).parent_path();
  const int descriptor =
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno == EACCES;  // may be written, not read
  const bool synced = sync(descriptor);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return synced;
}

}  // namespace

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)),
      straight_(is_no_place_for_a_file(path_)),
      file_(straight_ ? open_straight(path_) : open_new(partial_path(path_))) {
  if (file_) return;
  if (straight_ || errno != EEXIST) fail();
  throw WriteError(path_ + ": cannot be written: " + partial_path(path_) +
                   " is in the way and does not belong to an earlier run; remove it");
}

AtomicFile::~AtomicFile() {
  if (committed_ || straight_) return;
  file_.reset();
  std::remove(partial_path(path_).c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
}

void AtomicFile::flush() {
  if (std::fflush(file_.get()) != 0) fail();
}

void AtomicFile::append(std::string_view bytes) {
  flush();
  const int descriptor = ::fileno(file_.get());
  const off_t before = ::lseek(descriptor, 0, SEEK_CUR);
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int error = written == 0 ? ENOSPC : errno;
      // Making it shorter needs no room; of a pipe or a device nothing can be taken back.
      if (before >= 0 && ::ftruncate(descriptor, before) == 0)
        ::lseek(descriptor, before, SEEK_SET);
      throw WriteError(path_ + ": cannot be written: " + std::strerror(error));
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (error_ != 0) fail();  // something is missing in between
  flush();
  if (straight_) {
    committed_ = true;
    return;
  }
  if (!sync(::fileno(file_.get()))) fail();
  if (std::fclose(file_.release()) != 0) fail();
  if (std::rename(partial_path(path_).c_str(), path_.c_str()) != 0) fail();
  committed_ = true;
  if (!sync_directory_of(path_)) fail();
}

void AtomicFile::fail() {
  if (error_ == 0) error_ = errno;
  throw WriteError(path_ + ": cannot be written: " + std::strerror(error_));
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace dasgd
