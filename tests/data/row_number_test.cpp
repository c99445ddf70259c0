#include "dasgd/data/row_number.hpp"

#include <gtest/gtest.h>
#include <string>

#include "dasgd/base/utf8.hpp"

namespace dasgd {
namespace {

TEST(ShownPiece, ShowsLettersOfAllLanguagesAndNoByteThatDoesNotPrint) {
  EXPECT_EQ(shown_piece("Köln"), "\"Köln\"");
  EXPECT_EQ(shown_piece("東京, 日本"), "\"東京, 日本\"");
  EXPECT_EQ(shown_piece("a\nb\x1b[31m"), "\"a?b?[31m\"");
  EXPECT_EQ(shown_piece("\xff\xfe"), "\"??\"") << "no UTF-8";
  EXPECT_EQ(shown_piece("\xc2\x9b"), "\"??\"") << "a control character beyond ASCII";
}

TEST(ShownPiece, CutsLongTextsBetweenTwoLetters) {
  for (std::size_t before = 30; before < 45; ++before) {
    const std::string shown = shown_piece(std::string(before, 'x') + "ä東𝛑ä東𝛑ä東𝛑");
    EXPECT_TRUE(is_utf8(shown)) << before;
    EXPECT_TRUE(shown.ends_with("...\"")) << before;
    EXPECT_LE(shown.size(), 45u);
  }
}

}  // namespace
}  // namespace dasgd
