// MPI counts in int.
#include "dasgd/transport/mpi/async_messenger.hpp"

#include <cstddef>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <span>
#include <stdexcept>

#include "mpi/ranks.hpp"
#include "support/message.hpp"

namespace dasgd::test {
namespace {

using ::testing::HasSubstr;

// Nothing is read of the numbers: such a count, cast to int, would be another one.
TEST(AsyncMessenger, RefusesASumOfMoreNumbersThanMpiCounts) {
  mpi::AsyncMessenger messenger(*all_ranks());
  constexpr std::size_t count = (std::size_t{1} << 32) + 1;  // 1 as an int
  double one = 0;
  EXPECT_THAT(message_of<std::runtime_error>([&] { messenger.begin_sum(std::span(&one, count)); }),
              HasSubstr("4294967297 items is more than MPI takes at once"));
  EXPECT_FALSE(messenger.sum_is_complete());
}

}  // namespace
}  // namespace dasgd::test
