#include "dasgd/data/linear_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LinearSystemFile : public ::testing::Test {
 protected:
  std::string refusal(const std::string& text) {
    return test::message_of<InputError>(
        [&] { read_linear_system(directory.write("q.json", text)); });
  }
  test::TemporaryDirectory directory;
};

TEST_F(LinearSystemFile, ReadsRectangularInstances) {
  const auto s = read_linear_system(
      directory.write("q.json", R"({"A": [[1, 2], [3, 4.5], [-1e-3, 0]], "b": [1, 2, 3]})"));
  EXPECT_EQ(s.rows, 3u);
  EXPECT_EQ(s.columns, 2u);
  EXPECT_THAT(s.a, ElementsAre(1, 2, 3, 4.5, -1e-3, 0));
  EXPECT_THAT(s.b, ElementsAre(1, 2, 3));
}

TEST_F(LinearSystemFile, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("{\"A\": [[1,\n2],\n[3 4]]}"), HasSubstr("q.json:3: is malformed JSON"));
  EXPECT_THAT(refusal("{\"A\": [[1, 2"), HasSubstr("is malformed JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("keys \"A\" and \"b\""));
  EXPECT_THAT(refusal(R"({"A": [[1, 2], [3]], "b": [1, 2]})"),
              HasSubstr("A[1] has 1 numbers; A[0] has 2"));
  EXPECT_THAT(refusal(R"({"A": [[1, "x"]], "b": [1]})"),
              HasSubstr("A[0][1] is not a finite number"));
  EXPECT_THAT(refusal(R"({"A": [[1, 2]], "b": [1, 2]})"),
              HasSubstr("b has 2 numbers; A has 1 rows"));
  EXPECT_THAT(refusal(R"({"A": [[1, null]], "b": [1]})"), HasSubstr("A[0][1]"));
  EXPECT_THAT(refusal(R"({"A": [[1e999]], "b": [1]})"), HasSubstr("q.json: holds a number"));
  EXPECT_THAT(refusal(R"({"A": [], "b": []})"), HasSubstr("A must be a list of rows"));
  EXPECT_THAT(test::message_of<InputError>([] { read_linear_system("/no/such"); }),
              HasSubstr("/no/such: cannot be opened"));
}

}  // namespace
}  // namespace dasgd
