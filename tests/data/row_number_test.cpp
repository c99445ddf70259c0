#include "dasgd/data/row_number.hpp"

#include <gtest/gtest.h>
#include <string>
#include <variant>

#include "dasgd/base/utf8.hpp"

namespace dasgd {
namespace {

TEST(RowNumber, ANumberTooSmallForADoubleIsZeroAndOneTooLargeIsRefused) {
  const std::string zeros(400, '0');
  for (const std::string& small :
       {std::string("1e-400"), std::string("-12.5E-4000"), "0." + zeros + "1",
        "0." + zeros + "1e10", "1" + zeros + "e-900", std::string("1e-99999999999999999999")})
    EXPECT_EQ(row_number(small), (std::variant<double, NoNumber>(0.0))) << small;
  for (const std::string& large : {std::string("1e400"), "1" + zeros, "0." + zeros + "1e900",
                                   std::string("-1e39"), std::string("1e99999999999999999999")})
    EXPECT_EQ(row_number(large), (std::variant<double, NoNumber>(NoNumber::too_large))) << large;
  EXPECT_EQ(row_number("5e-324"), (std::variant<double, NoNumber>(5e-324)));
  EXPECT_EQ(row_number("1" + zeros + "e-400"), (std::variant<double, NoNumber>(1.0)));
}

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
