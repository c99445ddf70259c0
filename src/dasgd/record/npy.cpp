#include "dasgd/record/npy.hpp"

#include <bit>

namespace dasgd {

template <typename Real>
std::string to_npy(std::span<const Real> vector) {
  static_assert(std::endian::native == std::endian::little);
  std::string header = "{'descr': '<f" + std::to_string(sizeof(Real)) +
                       "', 'fortran_order': False, 'shape': (" + std::to_string(vector.size()) +
                       ",), }";
  constexpr std::size_t preamble = 10, alignment = 64;
  header.append(alignment - 1 - (preamble + header.size()) % alignment, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(vector.data()), vector.size_bytes());
  return bytes;
}

template std::string to_npy<float>(std::span<const float>);
template std::string to_npy<double>(std::span<const double>);

}  // namespace dasgd
