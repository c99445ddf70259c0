// The bytes of a file, in the memory of the system's page cache.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dasgd {

/// A file that is read where it lies: pages come when they are looked at and may go again, so it
/// may be larger than memory. What is not a plain file (a pipe) is read to its end instead.
class MappedFile {
 public:
  /// Throws InputError naming the path for a file that cannot be read.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {data_, size_}; }
  /// It will be read from front to end.
  void expect_sequential() const;
  /// It will be read here and there: a page comes without its neighbours.
  void expect_any_order() const;
  /// This part is read next: its pages come together, while the caller goes on.
  void fetch(std::size_t first, std::size_t size) const;
  /// This part will not be needed again soon: its pages may leave this process.
  void release(std::size_t first, std::size_t size) const;

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  bool mapped_ = false;
  std::string read_;  // of what cannot be mapped
};

}  // namespace dasgd
