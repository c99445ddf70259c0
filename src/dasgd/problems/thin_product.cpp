#include "dasgd/problems/thin_product.hpp"

#include <Eigen/Dense>
#include <algorithm>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define DASGD_WIDE_KERNEL
#endif

namespace dasgd {
namespace {

using Index = std::ptrdiff_t;

FactorView from_line(FactorView a, Index line) {
  return {a.numbers + line * a.down, a.down, a.along};
}

// `Lines` lines of to += a * b from `column` on, which stay in registers meanwhile.
template <int Columns, int Lines>
void add_lines(FactorView a, ThinView<const float> b, Index column, float* to, Index apart) {
  using Line = Eigen::Array<float, Columns, 1>;
  Line sums[Lines];
  for (int i = 0; i < Lines; ++i) sums[i] = Eigen::Map<const Line>(to + i * apart);
  for (Index k = 0; k < b.rows; ++k) {
    const Line part = Eigen::Map<const Line>(b.numbers + k * b.apart + column);
    for (int i = 0; i < Lines; ++i) sums[i] += a.numbers[i * a.down + k * a.along] * part;
  }
  for (int i = 0; i < Lines; ++i) Eigen::Map<Line>(to + i * apart) = sums[i];
}

template <int Columns>
void add_columns(FactorView a, ThinView<const float> b, Index column, ThinView<float> to) {
  const auto add = [&]<int Lines>(Index line) {
    add_lines<Columns, Lines>(from_line(a, line), b, column, to.numbers + line * to.apart + column,
                              to.apart);
  };
  Index line = 0;
  for (; line + 4 <= to.rows; line += 4) add.template operator()<4>(line);
  for (; line < to.rows; ++line) add.template operator()<1>(line);
}

#ifdef DASGD_WIDE_KERNEL
// The same with `columns` of one register.
template <int Lines>
[[gnu::target("avx512f")]] void add_wide_lines(FactorView a, ThinView<const float> b, Index column,
                                               float* to, Index apart, __mmask16 columns) {
  __m512 sums[Lines];  // without "unroll" they are written to memory in each turn
#pragma GCC unroll 8
  for (int i = 0; i < Lines; ++i) sums[i] = _mm512_maskz_loadu_ps(columns, to + i * apart);
  for (Index k = 0; k < b.rows; ++k) {
    const __m512 part = _mm512_maskz_loadu_ps(columns, b.numbers + k * b.apart + column);
#pragma GCC unroll 8
    for (int i = 0; i < Lines; ++i) {
      const __m512 factor = _mm512_set1_ps(a.numbers[i * a.down + k * a.along]);
      sums[i] = _mm512_add_ps(sums[i], _mm512_mul_ps(factor, part));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Lines; ++i) _mm512_mask_storeu_ps(to + i * apart, columns, sums[i]);
}

[[gnu::target("avx512f")]] void add_wide(FactorView a, ThinView<const float> b,
                                         ThinView<float> to) {
  constexpr Index most = 16;
  for (Index column = 0; column < to.columns; column += most) {
    const auto columns = static_cast<__mmask16>((1u << std::min(most, to.columns - column)) - 1u);
    float* const first = to.numbers + column;
    Index line = 0;
    for (; line + 8 <= to.rows; line += 8)
      add_wide_lines<8>(from_line(a, line), b, column, first + line * to.apart, to.apart, columns);
    for (; line < to.rows; ++line)
      add_wide_lines<1>(from_line(a, line), b, column, first + line * to.apart, to.apart, columns);
  }
}

bool is_wide() { return __builtin_cpu_supports("avx512f"); }
#else
void add_wide(FactorView, ThinView<const float>, ThinView<float>) {}
bool is_wide() { return false; }
#endif

}  // namespace

std::ptrdiff_t thin_columns(std::ptrdiff_t wanted) {
  return is_wide() ? wanted : whole_registers(wanted);
}

void add_thin_product(FactorView a, ThinView<const float> b, ThinView<float> to) {
  if (is_wide()) return add_wide(a, b, to);
  Index column = 0;
  for (; column + 12 <= to.columns; column += 12) add_columns<12>(a, b, column, to);
  for (; column < to.columns; column += 4) add_columns<4>(a, b, column, to);
}

}  // namespace dasgd
