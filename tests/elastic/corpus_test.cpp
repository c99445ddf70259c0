// The inputs that fuzzers begin with are of this version: those of another would be refused at
// their first bytes.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <span>
#include <string>

#include "dasgd/elastic/message.hpp"

namespace dasgd::elastic {
namespace {

TEST(Corpus, OfMessagesIsReadButForWhatIsWrongOnPurpose) {
  const std::set<std::string> wrong{"bundle_with_a_name_twice",
                                    "cut",
                                    "extended",
                                    "great_shift",
                                    "last_sequence",
                                    "many_origins"};
  std::set<std::size_t> kinds;
  for (const auto& file :
       std::filesystem::directory_iterator(DASGD_SOURCE_DIR "/tests/fuzz/corpus/messages")) {
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    Roster roster;
    Introductions link;
    const auto message = decode(std::as_bytes(std::span(text)), link, roster);
    EXPECT_EQ(message.has_value(), !wrong.contains(file.path().filename().string())) << file.path();
    if (message) kinds.insert(message->index());
  }
  EXPECT_EQ(kinds.size(), kind_names.size());
}

}  // namespace
}  // namespace dasgd::elastic
