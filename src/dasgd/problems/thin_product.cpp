#include "dasgd/problems/thin_product.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cstring>

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

void clear(ThinView<float> to, Index first_column) {
  if (first_column == 0 && to.apart == to.columns)
    return std::fill(to.numbers, to.numbers + to.rows * to.columns, 0.0f), void();
  for (Index line = 0; line < to.rows && first_column < to.columns; ++line)
    std::fill(to.numbers + line * to.apart + first_column,
              to.numbers + line * to.apart + to.columns, 0.0f);
}

// Few lines are not, nor sums of few numbers.
bool is_worth_moves(ThinView<const float> b, ThinView<float> to) {
  return to.rows >= 16 && b.rows >= 32;
}

#ifdef DASGD_WIDE_KERNEL
// Wide registers hold neighbours of a column, so that all of each is used however few columns there
// are.
template <int Lanes>
struct Wide {
  typedef float Register __attribute__((vector_size(Lanes * sizeof(float))));
};

template <typename Register>
[[gnu::always_inline]] inline void deal(const Register& a, const Register& b, Register& low,
                                        Register& high) {
  if constexpr (sizeof(Register) == 64) {
    low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high =
        __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  } else {
    low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  }
}

// Both halves are dealt out in turn, until lines are columns.
template <typename Register, int Lanes>
[[gnu::always_inline]] inline void transpose(Register (&lines)[Lanes]) {
#pragma GCC unroll 4
  for (int round = 1; round < Lanes; round *= 2) {
    Register dealt[Lanes];
#pragma GCC unroll 8
    for (int i = 0; i < Lanes / 2; ++i)
      deal(lines[i], lines[i + Lanes / 2], dealt[2 * i], dealt[2 * i + 1]);
#pragma GCC unroll 16
    for (int i = 0; i < Lanes; ++i) lines[i] = dealt[i];
  }
}

// Copies `depth` columns of the first lines of `a`, one after the other; the others are zeros.
template <int Lanes>
[[gnu::always_inline]] inline void pack(FactorView a, Index lines, Index depth, float* to,
                                        Index apart) {
  using Register = typename Wide<Lanes>::Register;
  Index k = 0;
  for (; a.along == 1 && k + Lanes <= depth; k += Lanes) {
    Register block[Lanes] = {};
#pragma GCC unroll 16
    for (Index i = 0; i < Lanes; ++i)
      if (i < lines) std::memcpy(&block[i], a.numbers + i * a.down + k, sizeof(Register));
    transpose(block);
#pragma GCC unroll 16
    for (Index i = 0; i < Lanes; ++i)
      std::memcpy(to + (k + i) * apart, &block[i], sizeof(Register));
  }
  for (; k < depth; ++k)
    for (Index i = 0; i < Lanes; ++i)
      to[k * apart + i] = i < lines ? a.numbers[i * a.down + k * a.along] : 0.0f;
}

// Register c of `sums` gets column c of some lines, or they get what it holds.
template <typename Register, int Columns>
[[gnu::always_inline]] inline void load_columns(Register (&sums)[Columns], Index lines,
                                                const float* from, Index apart) {
  constexpr int lanes = sizeof(Register) / sizeof(float);
#pragma GCC unroll 2
  for (int first = 0; first < Columns; first += lanes) {
    const int columns = Columns - first < lanes ? Columns - first : lanes;
    const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(float);
    Register block[lanes] = {};
#pragma GCC unroll 16
    for (Index i = 0; i < lanes; ++i)
      if (i < lines) std::memcpy(&block[i], from + i * apart + first, bytes);
    transpose(block);
#pragma GCC unroll 16
    for (int c = 0; c < columns; ++c) sums[first + c] = block[c];
  }
}
template <typename Register, int Columns>
[[gnu::always_inline]] inline void store_columns(const Register (&sums)[Columns], Index lines,
                                                 float* to, Index apart) {
  constexpr int lanes = sizeof(Register) / sizeof(float);
#pragma GCC unroll 2
  for (int first = 0; first < Columns; first += lanes) {
    const int columns = Columns - first < lanes ? Columns - first : lanes;
    const std::size_t bytes = static_cast<std::size_t>(columns) * sizeof(float);
    Register block[lanes] = {};
#pragma GCC unroll 16
    for (int c = 0; c < columns; ++c) block[c] = sums[first + c];
    transpose(block);
#pragma GCC unroll 16
    for (Index i = 0; i < lanes; ++i)
      if (i < lines) std::memcpy(to + i * apart + first, &block[i], bytes);
  }
}

// Each number of a column of some lines times its row of `b`.
template <int Columns, int Registers, typename Register>
[[gnu::always_inline]] inline void add_products(const float* column, Index apart,
                                                ThinView<const float> b,
                                                Register (&sums)[Registers][Columns]) {
  constexpr Index lanes = sizeof(Register) / sizeof(float);
  for (Index k = 0; k < b.rows; ++k, column += apart, b.numbers += b.apart) {
    Register part[Registers];
#pragma GCC unroll 2
    for (int r = 0; r < Registers; ++r) std::memcpy(&part[r], column + r * lanes, sizeof(Register));
#pragma GCC unroll 12
    for (int c = 0; c < Columns; ++c)
#pragma GCC unroll 2
      for (int r = 0; r < Registers; ++r) sums[r][c] += b.numbers[c] * part[r];
  }
}

// Up to Lanes * Registers lines of to += a * b, or of to = a * b.
template <int Lanes, int Registers, int Columns>
[[gnu::always_inline]] inline void add_tile(FactorView a, ThinView<const float> b, Index lines,
                                            float* to, Index apart, bool adds) {
  using Register = typename Wide<Lanes>::Register;
  constexpr Index depth = 64, width = Lanes * Registers;
  Register sums[Registers][Columns] = {};
#pragma GCC unroll 2
  for (int r = 0; adds && r < Registers; ++r)
    load_columns(sums[r], lines - r * Lanes, to + r * Lanes * apart, apart);
  if (a.down == 1 && lines == width) {
    add_products<Columns>(a.numbers, a.along, b, sums);
  } else {
    alignas(64) float packed[depth * width];
    for (Index done = 0; done < b.rows; done += depth) {
      const Index rows = std::min(depth, b.rows - done);
      const FactorView from{a.numbers + done * a.along, a.down, a.along};
      for (int r = 0; r < Registers; ++r)
        pack<Lanes>(from_line(from, r * Lanes), lines - r * Lanes, rows, packed + r * Lanes, width);
      add_products<Columns>(packed, width, {b.numbers + done * b.apart, rows, b.columns, b.apart},
                            sums);
    }
  }
#pragma GCC unroll 2
  for (int r = 0; r < Registers; ++r)
    store_columns(sums[r], lines - r * Lanes, to + r * Lanes * apart, apart);
}

// Returns how many columns are done: the first ones, while there are so many more. Few lines, or
// sums of few numbers, are not worth the moves.
template <int Lanes, int Registers, int Columns>
[[gnu::always_inline]] inline Index add_tiles(FactorView a, ThinView<const float> b,
                                              ThinView<float> to, bool adds) {
  Index column = 0;
  for (; column + Columns <= to.columns; column += Columns, b.numbers += Columns) {
    float* const first = to.numbers + column;
    Index line = 0;
    for (; line + Lanes * Registers <= to.rows; line += Lanes * Registers)
      add_tile<Lanes, Registers, Columns>(from_line(a, line), b, Lanes * Registers,
                                          first + line * to.apart, to.apart, adds);
    for (; line < to.rows; line += Lanes)
      add_tile<Lanes, 1, Columns>(from_line(a, line), b, std::min<Index>(Lanes, to.rows - line),
                                  first + line * to.apart, to.apart, adds);
  }
  return column;
}

// The columns that are left, with neighbours of a line in a register.
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

[[gnu::target("avx512f")]] void add_by_16(FactorView a, ThinView<const float> b, ThinView<float> to,
                                          bool adds) {
  constexpr Index most = 16;
  Index column = is_worth_moves(b, to) ? add_tiles<16, 2, 10>(a, b, to, adds) : 0;
  if (!adds) clear(to, column);
  for (; column < to.columns; column += most) {
    const auto columns = static_cast<__mmask16>((1u << std::min(most, to.columns - column)) - 1u);
    float* const first = to.numbers + column;
    Index line = 0;
    for (; line + 8 <= to.rows; line += 8)
      add_wide_lines<8>(from_line(a, line), b, column, first + line * to.apart, to.apart, columns);
    for (; line < to.rows; ++line)
      add_wide_lines<1>(from_line(a, line), b, column, first + line * to.apart, to.apart, columns);
  }
}

[[gnu::target("avx2")]] Index add_by_8(FactorView a, ThinView<const float> b, ThinView<float> to,
                                       bool adds) {
  return add_tiles<8, 1, 12>(a, b, to, adds);
}

bool has_16() { return __builtin_cpu_supports("avx512f"); }
bool has_8() { return __builtin_cpu_supports("avx2"); }
#else
void add_by_16(FactorView, ThinView<const float>, ThinView<float>, bool) {}
Index add_by_8(FactorView, ThinView<const float>, ThinView<float>, bool) { return 0; }
bool has_16() { return false; }
bool has_8() { return false; }
#endif

void add(FactorView a, ThinView<const float> b, ThinView<float> to, bool adds) {
  if (has_16()) return add_by_16(a, b, to, adds);
  Index column = has_8() && is_worth_moves(b, to) ? add_by_8(a, b, to, adds) : 0;
  if (!adds) clear(to, column);
  for (; column + 12 <= to.columns; column += 12) add_columns<12>(a, b, column, to);
  for (; column < to.columns; column += 4) add_columns<4>(a, b, column, to);
}

}  // namespace

std::ptrdiff_t thin_columns(std::ptrdiff_t wanted) {
  return has_16() ? wanted : whole_registers(wanted);
}

void add_thin_product(FactorView a, ThinView<const float> b, ThinView<float> to) {
  add(a, b, to, true);
}

void set_thin_product(FactorView a, ThinView<const float> b, ThinView<float> to) {
  add(a, b, to, false);
}

}  // namespace dasgd
