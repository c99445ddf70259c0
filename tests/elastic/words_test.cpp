// What loops of members announce to each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Words : ::testing::Test {
  std::vector<std::string> announced_to(LinkId link) {
    std::vector<std::string> texts;
    for (const Message& message : network.said[link])
      if (const auto* word = std::get_if<Word>(&message)) texts.push_back(word->text);
    return texts;
  }
  Said network;
  Protocol member{{.origin = {1, 1}, .facts = "same", .founder = true, .dimension = dimension},
                  network};
};

TEST_F(Words, TheLastOfEverybodyIsKnownAndTheEldestIsFirst) {
  EXPECT_THAT(member.words(), IsEmpty());
  Peer younger(member, LinkId{1}, {3, 3}), other(member, LinkId{2}, {2, 2});
  younger.report(true, 1);
  other.report(true, 1);
  member.announce("mine");
  younger.say(Word{{3, 3}, 1, "of 3"}, 2);
  other.say(Word{{2, 2}, 2, "of 2"}, 2);
  other.say(Word{{2, 2}, 1, "an old one"}, 3);
  EXPECT_THAT(member.words(), ElementsAre("mine", "of 2", "of 3"));
  member.announce("mine again");
  other.say(Goodbye{}, 4);
  EXPECT_THAT(member.words(), ElementsAre("mine again", "of 3"));
}

TEST_F(Words, TravelWithReportsOnceAndThroughOthers) {
  Peer first(member, LinkId{1}, {2, 2});
  first.report(true, 1);
  member.announce("one");
  member.announce("two");
  first.say(Word{{2, 2}, 1, "of 2"}, 2);
  EXPECT_THAT(announced_to(first.link), IsEmpty())
      << "a loop that announces every step floods nobody";
  member.tick(a_second);
  member.tick(2 * a_second);
  Peer late(member, LinkId{2}, {3, 3});
  EXPECT_THAT(announced_to(first.link), ElementsAre("two", "of 2"));
  EXPECT_THAT(announced_to(late.link), ElementsAre("two", "of 2"));
}

TEST_F(Words, OfNobodyAndOfOneselfAreNotBelieved) {
  Peer liar(member, LinkId{1}, {2, 2});
  liar.report(true, 1);
  member.announce("mine");
  liar.say(Word{{1, 1}, 99, "yours"}, 2);
  liar.say(Word{{7, 7}, 1, "of nobody"}, 2);
  EXPECT_THAT(member.words(), ElementsAre("mine"));
  EXPECT_TRUE(network.closed.empty());
  liar.say(Word{{2, 2}, 1, std::string(longest_word + 1, 'x')}, 3);
  EXPECT_EQ(network.closed.size(), 1u) << "too long";
}

}  // namespace
}  // namespace dasgd::elastic::test
