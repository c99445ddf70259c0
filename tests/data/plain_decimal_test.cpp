#include "dasgd/data/rows/plain_decimal.hpp"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace dasgd {
namespace {

/// Text that ends where memory ends: a byte read behind it is fatal.
class AtTheEndOfMemory {
 public:
  explicit AtTheEndOfMemory(const std::string& text) : size_(text.size()) {
    ::mprotect(memory_ + page_, page_, PROT_NONE);
    std::memcpy(begin(), text.data(), size_);
  }
  ~AtTheEndOfMemory() { ::munmap(memory_, 2 * page_); }
  char* begin() const { return memory_ + page_ - size_; }
  char* end() const { return memory_ + page_; }

 private:
  const std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size_;
  char* const memory_ = static_cast<char*>(
      ::mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
};

TEST(PlainDecimal, ReadsNoByteBehindItsEnd) {
  for (const std::string sign : {"", "-"})
    for (std::size_t before = 0; before <= 12; ++before)
      for (std::size_t after = 0; after <= 12; ++after) {
        const std::string text = sign + std::string(before, '7') + "." + std::string(after, '3');
        const AtTheEndOfMemory field(text);
        double value = 0;
        const char* const end = plain_decimal(field.begin(), field.end(), '.', value);
        const bool plain = before + after > 0 && before + after <= 15;
        ASSERT_EQ(end, plain ? field.end() : nullptr) << text;
        if (plain) {
          EXPECT_EQ(value, std::strtod(text.c_str(), nullptr)) << text;
        }
      }
}

}  // namespace
}  // namespace dasgd
