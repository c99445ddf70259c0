#include "dasgd/transport/send_window.hpp"

#include <gtest/gtest.h>

namespace dasgd {
namespace {

TEST(SendWindow, IsFreeWhileFewParcelsAreUnderWay) {
  SendWindow window(2, 100);
  window.sent(1000);
  EXPECT_TRUE(window.is_free());
  window.sent(500);
  EXPECT_FALSE(window.is_free());
  EXPECT_EQ(window.size_in_bytes(), 1500u);
  EXPECT_TRUE(window.confirm(1));
  EXPECT_EQ(window.size_in_bytes(), 500u);
  EXPECT_TRUE(window.is_free());
  EXPECT_TRUE(window.confirm(1)) << "again";
  EXPECT_TRUE(window.confirm(2));
  EXPECT_TRUE(window.empty());
}

TEST(SendWindow, TakesManyParcelsThatAreSmall) {
  SendWindow window(2, 1000);
  for (int k = 0; k < 20; ++k) {
    EXPECT_TRUE(window.is_free()) << k;
    window.sent(50);
  }
  EXPECT_FALSE(window.is_free());
  for (int k = 0; k < 18; ++k) EXPECT_TRUE(window.confirm(static_cast<std::uint64_t>(k + 1)));
  EXPECT_TRUE(window.is_free());
  SendWindow of_nothing(2, 1000);
  int sent = 0;
  for (; of_nothing.is_free(); ++sent) of_nothing.sent(0);
  EXPECT_EQ(sent, 64) << "however small";
}

TEST(SendWindow, RefusesWhatWasNotSent) {
  SendWindow window(2, 100);
  EXPECT_FALSE(window.confirm(1));
  window.sent(10);
  EXPECT_FALSE(window.confirm(2));
  EXPECT_TRUE(window.confirm(1));
  EXPECT_FALSE(window.confirm(0)) << "it had arrived";
}

}  // namespace
}  // namespace dasgd
