// CIFAR-10 in its official binary layout.
#pragma once

#include <array>
#include <string>

#include "dasgd/data/images/idx.hpp"

namespace dasgd {

/// One file of the data set and the SHA-1 of the official one.
struct Cifar10File {
  const char* name;
  const char* sha1;
};

/// Five training files and, last, the test file.
inline constexpr std::array<Cifar10File, 6> cifar10_files{{
    {"data_batch_1.bin", "aadd24acce27caa71bf4b10992e9e7b2d74c2540"},
    {"data_batch_2.bin", "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795"},
    {"data_batch_3.bin", "1dd00a74ab1d17a6e7d73e185b69dbf31242f295"},
    {"data_batch_4.bin", "aab85764eb3584312d3c7f65fd2fd016e36a258e"},
    {"data_batch_5.bin", "26e2849e66a845b7f1e4614ae70f4889ae604628"},
    {"test_batch.bin", "67eb016db431130d61cd03c7ad570b013799c88c"},
}};

/// A record: one byte of label, then 32 x 32 red, green and blue.
inline constexpr std::size_t cifar10_record = 1 + 3 * 32 * 32;

/// Whether `directory` holds files of this layout.
bool is_cifar10_directory(const std::string& directory);

/// Reads the six files, each of any number of records. Throws InputError naming the file for
/// anything missing or truncated and for a label beyond 9.
ImageSet read_cifar10_directory(const std::string& directory);

}  // namespace dasgd
