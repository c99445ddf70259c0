// Who may not join is told why.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic {
namespace {

/// What a member says to somebody who has just come.
struct Answers : Wires {
  LinkId dial(const std::string&) override { return {}; }
  void send(LinkId, Bytes header, std::span<const std::byte>,
            std::shared_ptr<const void>) override {
    said.push_back(*decode(header, names, roster));
  }
  std::size_t queued_bytes(LinkId) const override { return 0; }
  void close(LinkId) override { closed = true; }

  Introductions names;
  Roster roster;
  std::vector<Message> said;
  bool closed = false;
};

TEST(Refusals, NameWhatDiffers) {
  const std::vector<std::string> facts{"version: 0.1.0", "model: 10 numbers of 64 bits",
                                       "start: a point of length 1", "data: 7 samples", "seed: 1"};
  const auto text_of = [&](std::size_t other) {
    std::string text;
    for (std::size_t k = 0; k < facts.size(); ++k) text += facts[k] + (k == other ? "9\n" : "\n");
    return text;
  };
  for (std::size_t k = 0; k < facts.size(); ++k) {
    Answers network;
    Protocol protocol(
        {.origin = {1, 1}, .name = "a", .facts = text_of(facts.size()), .founder = true}, network);
    const LinkId link{1};
    protocol.linked(link, false, 0);
    Introductions out;
    Roster roster;
    const Hello hello{{}, {2, 2}, "b", "", text_of(k)};
    protocol.received(link, encode(hello, out, roster), 1);
    ASSERT_EQ(network.said.size(), 2u);  // a hello comes first
    EXPECT_EQ(std::get<Refusal>(network.said.back()).why,
              "the run has " + facts[k] + "; you have " + facts[k] + "9");
    EXPECT_TRUE(network.closed);
  }
}

}  // namespace
}  // namespace dasgd::elastic
