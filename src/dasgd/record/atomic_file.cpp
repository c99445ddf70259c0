#include "dasgd/record/atomic_file.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace dasgd {

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), file_(std::fopen(partial_path().c_str(), "wb")) {
  if (!file_) fail();
}

AtomicFile::~AtomicFile() {
  if (committed_) return;
  file_.reset();
  std::remove(partial_path().c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
}

void AtomicFile::flush() {
  if (std::fflush(file_.get()) != 0) fail();
}

void AtomicFile::commit() {
  flush();
  if (::fsync(::fileno(file_.get())) != 0 && errno != EINVAL) fail();
  if (std::fclose(file_.release()) != 0) fail();
  if (std::rename(partial_path().c_str(), path_.c_str()) != 0) fail();
  committed_ = true;
}

void AtomicFile::fail() const {
  const int error = errno;
  throw WriteError(path_ + ": cannot be written: " + std::strerror(error));
}

void write_file(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace dasgd
