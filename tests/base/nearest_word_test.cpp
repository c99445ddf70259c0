#include "dasgd/base/nearest_word.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace dasgd {
namespace {

const std::vector<std::string> words{"ring", "star", "full", "directed-ring"};

TEST(NearestWord, FindsTypos) {
  EXPECT_EQ(nearest_word("rign", words), "ring");
  EXPECT_EQ(nearest_word("ful", words), "full");
  EXPECT_EQ(nearest_word("direced-rnig", words), "directed-ring");
}

TEST(NearestWord, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(nearest_word("elephant", words), "");
  EXPECT_EQ(suggestion("elephant", words), "; choose one of ring, star, full, directed-ring");
}

}  // namespace
}  // namespace dasgd
