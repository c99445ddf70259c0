// Lossless packing of updates and sums: bytes of numbers per second on one core, against copying
// them.
#include <benchmark/benchmark.h>
#include <random>

#include "dasgd/core/few_bits.hpp"
#include "dasgd/core/fixed_point.hpp"
#include "dasgd/core/packing.hpp"

namespace {

using namespace dasgd;

constexpr std::size_t dimension = 1 << 20;

/// Numbers of so many bits, at the lower end of words of `Number`.
template <typename Number>
std::vector<Number> numbers_of(int bits) {
  std::mt19937_64 random(1);
  std::vector<Number> numbers(dimension);
  for (Number& n : numbers)
    n = static_cast<Number>(static_cast<std::int64_t>(random()) >> (64 - bits));
  return numbers;
}

template <typename Number>
void pack_and_unpack(benchmark::State& state) {
  const auto numbers = numbers_of<Number>(static_cast<int>(state.range(0)));
  const auto bytes = std::as_bytes(std::span(numbers));
  std::vector<Number> back(dimension);
  Bytes packed;
  const bool packs = state.range(1) == 0;
  packed = pack(bytes, sizeof(Number));
  for (auto _ : state) {
    if (packs)
      packed = pack(bytes, sizeof(Number));
    else
      benchmark::DoNotOptimize(
          unpack(packed, sizeof(Number), std::as_writable_bytes(std::span(back))));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
  state.SetLabel(packs ? "pack" : "unpack");
}
BENCHMARK(pack_and_unpack<std::int32_t>)
    ->Name("packing/updates")
    ->ArgsProduct({{4, 8, 25}, {0, 1}});
BENCHMARK(pack_and_unpack<std::int64_t>)->Name("packing/sums")->ArgsProduct({{10, 35}, {0, 1}});

void round_to_few_bits(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::vector<float> gradient(dimension);
  for (float& g : gradient) g = std::normal_distribution<float>()(random);
  FewBits<float> few(static_cast<MessageFormat>(state.range(0)), dimension);
  Update update;
  for (auto _ : state) {
    benchmark::DoNotOptimize(few.make(1e-3, gradient, update));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(dimension * sizeof(float)) *
                          state.iterations());
  state.SetLabel(to_string(static_cast<MessageFormat>(state.range(0))));
}
BENCHMARK(round_to_few_bits)
    ->Name("packing/rounding")
    ->Arg(static_cast<int>(MessageFormat::int8))
    ->Arg(static_cast<int>(MessageFormat::ternary));

}  // namespace
