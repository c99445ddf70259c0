#include "dasgd/settings/named_files.hpp"

#include <filesystem>
#include <gtest/gtest.h>

#include "support/temporary_directory.hpp"

namespace dasgd::config {
namespace {

using Digests = std::map<std::string, std::string>;

Digests digests_of(const std::string& settings) {
  return digests_of_named_files(std::span(&settings, 1));
}

TEST(NamedFiles, AreFoundInAllWaysToNameThem) {
  test::TemporaryDirectory directory;
  const std::string a = directory.write("a.csv", "1\n"), b = directory.write("b.csv", "2\n");
  for (const std::string& value : {a, "file:" + a, "none," + a})
    EXPECT_EQ(digests_of("x = 3\ndata = \"" + value + "\"\n").count(a), 1u) << value;
  EXPECT_EQ(digests_of("data = \"" + a + "," + b + "\"").size(), 2u);
  EXPECT_EQ(digests_of("data = \"fashion-mnist\"\nmodel = \"softmax\"").size(), 0u);
  EXPECT_EQ(digests_of("data = \"" + directory.file("missing.csv") + "\"").size(), 0u);
  EXPECT_EQ(digests_of("data = \"half").size(), 0u);
}

TEST(NamedFiles, HaveAnotherDigestWhenTheyHoldSomethingElse) {
  test::TemporaryDirectory directory;
  const std::string file = directory.write("a.csv", "1\n");
  std::filesystem::create_directories(directory.file("pictures/cats"));
  std::filesystem::create_directories(directory.file("pictures/run"));
  directory.write("pictures/cats/1.png", "cat");
  const std::string settings =
      "data = \"" + file + "\"\nother = \"" + directory.file("pictures") + "\"\n";
  const Digests before = digests_of(settings);
  ASSERT_EQ(before.size(), 2u);
  directory.write("pictures/run/summary.json", "{}");
  EXPECT_EQ(digests_of(settings), before) << "a run was written there";
  directory.write("a.csv", "2\n");
  EXPECT_NE(digests_of(settings).at(file), before.at(file));
  directory.write("pictures/cats/1.png", "dog");
  EXPECT_NE(digests_of(settings).at(directory.file("pictures")),
            before.at(directory.file("pictures")));
}

}  // namespace
}  // namespace dasgd::config
