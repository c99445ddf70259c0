#include "dasgd/base/files/mapped_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dasgd/base/files/file_descriptor.hpp"
#include "dasgd/base/input_error.hpp"

namespace dasgd {
namespace {

[[noreturn]] void cannot_be_read(const std::string& path) {
  throw InputError(path + ": cannot be read: " + std::strerror(errno));
}

std::string read_to_end(int descriptor, const std::string& path) {
  std::string all;
  char piece[1 << 16];
  for (;;) {
    const ssize_t got = ::read(descriptor, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) cannot_be_read(path);
    if (got == 0) return all;
    all.append(piece, static_cast<std::size_t>(got));
  }
}

std::size_t page_size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about {};
  if (*file < 0 || ::fstat(*file, &about) != 0) cannot_be_read(path);
  if (S_ISDIR(about.st_mode)) throw InputError(path + ": is a directory, not a file");
  size_ = static_cast<std::size_t>(about.st_size);
  if (S_ISREG(about.st_mode) && size_ > 0) {
    void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, *file, 0);
    if (at == MAP_FAILED) cannot_be_read(path);
    data_ = static_cast<const char*>(at);
    mapped_ = true;
    return;
  }
  read_ = read_to_end(*file, path);
  data_ = read_.data();
  size_ = read_.size();
}

MappedFile::~MappedFile() {
  if (mapped_) ::munmap(const_cast<char*>(data_), size_);
}

void MappedFile::expect_sequential() const {
  if (mapped_) ::madvise(const_cast<char*>(data_), size_, MADV_SEQUENTIAL);
}

void MappedFile::expect_any_order() const {
  if (mapped_) ::madvise(const_cast<char*>(data_), size_, MADV_RANDOM);
}

void MappedFile::fetch(std::size_t first, std::size_t size) const {
  if (!mapped_) return;
  const std::size_t begin = first / page_size() * page_size();
  ::madvise(const_cast<char*>(data_) + begin, first + size - begin, MADV_WILLNEED);
}

void MappedFile::release(std::size_t first, std::size_t size) const {
  if (!mapped_) return;
  const std::size_t page = page_size();
  const std::size_t begin = (first + page - 1) / page * page, end = (first + size) / page * page;
  if (end > begin) ::madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace dasgd
