// The arithmetic of core/fixed_point.cpp on a GPU: every function below has its counterpart there.
#include <cstdint>

#include "dasgd/adapters/torch/device/integers/integer_kernels.hpp"
#include "dasgd/core/fixed_point.hpp"

namespace dasgd::kernels {
namespace {

constexpr int unit_exponent = FixedPoint<float>::unit_exponent;
constexpr int update_bits = FixedPoint<float>::update_bits;
constexpr int step_bits = FixedPoint<float>::step_bits;
constexpr int sum_bits = FixedPoint<float>::sum_bits;
constexpr int threads = 256;

int blocks_for(std::size_t size) {
  const std::size_t wanted = (size + threads - 1) / threads;
  return static_cast<int>(wanted < 4096 ? (wanted > 0 ? wanted : 1) : 4096);
}

// Several at a time, so that more of the memory is on its way.
#define DASGD_FOR_EACH(i, size)                                                                     \
  _Pragma("unroll 4") for (std::size_t i =                                                          \
                               blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;     \
                           i < (size); i += static_cast<std::size_t>(blockDim.x) * gridDim.x)

__device__ float value_of(std::int64_t sum) {
  return __double2float_rn(__ll2double_rn(sum) * (1.0 / (1ll << -unit_exponent)));
}

__device__ bool in_range(float value) {
  return fabsf(value) < static_cast<float>(1ll << (sum_bits + unit_exponent));
}

__global__ void show_kernel(const std::int64_t* __restrict__ sums, float* __restrict__ x,
                            std::size_t size, Notes notes) {
  bool beyond = false;
  DASGD_FOR_EACH(i, size) {
    const float value = value_of(sums[i]);
    x[i] = value;
    beyond |= !in_range(value);
  }
  if (beyond) *notes.out_of_range = 1;
}

// Magnitudes as integers are ordered like numbers, with infinities and NaNs above all.
__global__ void largest_kernel(const float* __restrict__ gradient, std::size_t size,
                               unsigned* largest) {
  unsigned found = 0;
  DASGD_FOR_EACH(i, size) {
    const unsigned magnitude = __float_as_uint(gradient[i]) & 0x7fffffffu;
    found = magnitude > found ? magnitude : found;
  }
  for (int step = 16; step > 0; step /= 2) {
    const unsigned other = __shfl_xor_sync(0xffffffffu, found, step);
    found = other > found ? other : found;
  }
  __shared__ unsigned of_warps[threads / 32];
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = found;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const unsigned other : of_warps) found = other > found ? other : found;
  atomicMax(largest, found);
}

struct Unit {
  int shift;
  float scale;
  bool diverged;
};

__device__ Unit unit_for(double factor, float largest) {
  const double step = fabs(factor) * static_cast<double>(largest);
  int exponent = 0;
  frexp(step, &exponent);
  exponent -= unit_exponent;
  if (!isfinite(step) || exponent > step_bits) return {0, 0, true};
  const int above = exponent > update_bits ? exponent - update_bits : 0;
  const int shift = step > 0 ? (above + 1) / 2 * 2 : 0;
  const float scale =
      __double2float_rn(factor * static_cast<double>(1ll << (-unit_exponent - shift)));
  if (!isfinite(scale)) return {0, 0, true};
  return {shift, scale, false};
}

__global__ void round_kernel(const float* __restrict__ gradient, const double* factor,
                             std::int32_t* __restrict__ numbers, std::int32_t* shift,
                             std::int64_t* __restrict__ sums, float* __restrict__ x,
                             std::size_t size, Notes notes) {
  const float largest = __uint_as_float(*notes.scratch);
  const Unit unit = unit_for(*factor, largest);
  bool beyond = false;
  DASGD_FOR_EACH(i, size) {
    const std::int32_t number = unit.diverged ? 0 : __float2int_rn(unit.scale * gradient[i]);
    const std::int64_t sum = sums[i] + static_cast<std::int64_t>(number) * (1ll << unit.shift);
    const float value = value_of(sum);
    numbers[i] = number;
    sums[i] = sum;
    x[i] = value;
    beyond |= !in_range(value);
  }
  if (beyond) *notes.out_of_range = 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *shift = unit.shift;
    *notes.diverged = unit.diverged ? 1 : 0;
    *notes.largest = largest;
  }
}

__global__ void add_kernel(Addends addends, std::int64_t* __restrict__ sums, std::size_t size) {
  DASGD_FOR_EACH(i, size) {
    std::int64_t sum = sums[i];
    for (int k = 0; k < addends.count; ++k)
      sum += static_cast<std::int64_t>(addends.numbers[k][i]) * (1ll << *addends.shifts[k]);
    sums[i] = sum;
  }
}

cudaStream_t on(void* stream) { return static_cast<cudaStream_t>(stream); }

}  // namespace

int show(const std::int64_t* sums, float* x, std::size_t size, const Notes& notes, void* stream) {
  show_kernel<<<blocks_for(size), threads, 0, on(stream)>>>(sums, x, size, notes);
  return cudaGetLastError();
}

int measure(const float* gradient, std::size_t size, const Notes& notes, void* stream) {
  cudaMemsetAsync(notes.scratch, 0, sizeof *notes.scratch, on(stream));
  largest_kernel<<<blocks_for(size), threads, 0, on(stream)>>>(gradient, size, notes.scratch);
  return cudaGetLastError();
}

int round_and_add(const float* gradient, const double* factor, std::int32_t* numbers,
                  std::int32_t* shift, std::int64_t* sums, float* x, std::size_t size,
                  const Notes& notes, void* stream) {
  round_kernel<<<blocks_for(size), threads, 0, on(stream)>>>(gradient, factor, numbers, shift, sums,
                                                             x, size, notes);
  return cudaGetLastError();
}

int add(const Addends& addends, std::int64_t* sums, std::size_t size, void* stream) {
  add_kernel<<<blocks_for(size), threads, 0, on(stream)>>>(addends, sums, size);
  return cudaGetLastError();
}

}  // namespace dasgd::kernels
