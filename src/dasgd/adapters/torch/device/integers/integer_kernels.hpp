// What integer_kernels.cu launches. Pointers are of the device, streams are CUDA's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dasgd::kernels {

inline constexpr int most_addends = 8;

/// Updates to be added in one pass.
struct Addends {
  const std::int32_t* numbers[most_addends];
  const std::int32_t* shifts[most_addends];
  int count;
};

/// Where the notes of a step go.
struct Notes {
  double *diverged, *out_of_range, *largest;
  unsigned* scratch;  ///< from `measure` to `round_and_add`
};

/// Returns an error of CUDA's, 0 for none.
int show(const std::int64_t* sums, float* x, std::size_t size, const Notes& notes, void* stream);
int measure(const float* gradient, std::size_t size, const Notes& notes, void* stream);
int round_and_add(const float* gradient, const double* factor, std::int32_t* numbers,
                  std::int32_t* shift, std::int64_t* sums, float* x, std::size_t size,
                  const Notes& notes, void* stream);
int add(const Addends& addends, std::int64_t* sums, std::size_t size, void* stream);

}  // namespace dasgd::kernels
