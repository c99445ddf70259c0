#include "dasgd/lab/experiments/rival_numbers.hpp"

#include <gtest/gtest.h>

namespace dasgd {
namespace {

TEST(RivalNumbers, WhatCanBeRepeatedAgreesOrIsKnownToDiffer) {
  const auto numbers = repeat_published_numbers(true);
  std::size_t repeated = 0;
  for (const PublishedNumber& n : numbers) {
    if (!n.here) {
      EXPECT_FALSE(n.note.empty()) << n.source << ": a number that is missing says why";
      continue;
    }
    ++repeated;
    EXPECT_NE(n.agrees(), n.differs) << n.source << ", " << n.setting << ": " << n.published
                                     << " published, " << *n.here << " here";
  }
  EXPECT_GE(repeated, 20u);
}

}  // namespace
}  // namespace dasgd
