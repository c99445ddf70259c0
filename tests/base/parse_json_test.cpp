#include "dasgd/base/parse_json.hpp"

#include <gtest/gtest.h>
#include <string>

namespace dasgd {
namespace {

TEST(ParseJson, AKeyThatIsGivenTwiceIsRefused) {
  EXPECT_EQ(parse_json(std::string(R"({"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}]})"))["a"],
            1);
  for (const std::string text :
       {R"({"a": 1, "a": 1})", R"({"b": {"a": 1, "c": 2, "a": 3}})", R"([{"a": 1, "\u0061": 2}])"})
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
}

TEST(ParseJson, AmongManyKeysToo) {
  std::string text = "{";
  for (int i = 0; i < 40; ++i) text += "\"" + std::to_string(i) + "\": 0, ";
  EXPECT_TRUE(parse_json(text + "\"40\": 0}").is_object());
  for (const std::string again : {"3", "15", "16", "39"})
    EXPECT_TRUE(parse_json(text + "\"" + again + "\": 0}").is_discarded()) << again;
}

TEST(ParseJson, WhatIsNoJsonIsDiscarded) {
  for (const std::string text : {"", "{", "{\"a\":}", "1e999"})
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
}

}  // namespace
}  // namespace dasgd
