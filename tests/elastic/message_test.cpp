// Every field of every message arrives, and what no member would say is refused.
#include "dasgd/elastic/message.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace dasgd::elastic::messages {
namespace {

constexpr WorkerId a{0}, b{1};
constexpr double infinite = std::numeric_limits<double>::infinity();

/// As the other end of a link reads it, whose numbers are others: b is its first.
std::optional<Message> read(const Message& message) {
  Introductions out, in;
  Roster here, there;
  here.number({1, 1});
  here.number({2, 2});
  there.number({2, 2});
  return decode(encode(message, out, here), in, there);
}
template <typename Kind>
Kind carried(const Kind& message) {
  return std::get<Kind>(read(message).value());
}

/// With compute sets of their own names alone.
GradientFacts facts(std::uint32_t sequence, WorkerId origin = a) {
  GradientFacts g;
  g.name = {origin, sequence};
  g.origin_step = sequence;
  g.eta = 0.25;
  g.samples = 7 + sequence;
  if (sequence > 0) g.compute_set.insert_range({origin, 0, sequence});
  return g;
}

const RunId run{std::byte{1}, std::byte{2}, std::byte{3}};

TEST(Messages, BringWhatMeetingMembersSay) {
  const auto hello = carried(Hello{run, {3, 4}, "name", "host:1", "seed: 1\n"});
  EXPECT_EQ(hello.run, run);
  EXPECT_EQ(hello.origin, (Origin{3, 4}));
  EXPECT_EQ(hello.name + hello.address + hello.facts, "namehost:1seed: 1\n");
  const auto welcome = carried(Welcome{"settings", "facts", {"x:1", "y:2"}, {5, 6, 7.5}});
  EXPECT_EQ(welcome.settings + welcome.facts, "settingsfacts");
  EXPECT_EQ(welcome.addresses, (std::vector<std::string>{"x:1", "y:2"}));
  EXPECT_EQ(welcome.before.gradients, 5u);
  EXPECT_EQ(welcome.before.samples, 6u);
  EXPECT_EQ(welcome.before.seconds, 7.5);
  EXPECT_EQ(carried(Refusal{"no"}).why, "no");
  EXPECT_TRUE(std::holds_alternative<Want>(read(Want{}).value()));
  const auto rotation = carried(Rotation{3, "token", run});
  EXPECT_EQ(rotation, (Rotation{3, "token", run}));
  const auto word = carried(Word{{3, 4}, 5, "text"});
  EXPECT_EQ(word.origin, (Origin{3, 4}));
  EXPECT_EQ(word.number, 5u);
  EXPECT_EQ(word.text, "text");
  const auto goodbye = carried(Goodbye{true, {1, 2}, {3, 4}});
  EXPECT_TRUE(goodbye.ended);
  EXPECT_EQ(goodbye.names, (Hash{1, 2}));
  EXPECT_EQ(goodbye.digest, (Hash{3, 4}));
  ModelDigest digest{{}, {5, 6}};
  digest.names.insert_range({b, 0, 3});
  EXPECT_EQ(carried(digest).names.prefix(WorkerId{0}), 3u);
  EXPECT_EQ(carried(digest).digest, (Hash{5, 6}));
}

TEST(Messages, BringReportsWithAllThatIsKnownOfMembers) {
  Report report;
  report.held.insert_range({b, 0, 3});
  report.can_stream = false;
  report.taken = 9;
  report.linked = {b, a};
  report.card = {1.5F, true, 2.5F};
  Record full{{3, 4},        5,    "name", "host:1", true, 6,      7,      8,
              StopReason{1}, true, false,  true,     0.5,  {1, 2}, {3, 4}, {5, 6}};
  report.records = {full, {.origin = {7, 8}, .version = highest_version, .left = true}};
  const auto back = carried(report);
  EXPECT_EQ(back.held.prefix(WorkerId{0}), 3u);  // the other end's number of b
  EXPECT_FALSE(back.can_stream);
  EXPECT_EQ(back.taken, 9u);
  EXPECT_EQ(back.linked, (std::vector<WorkerId>{WorkerId{0}, WorkerId{1}}));
  EXPECT_TRUE(back.card.rate == 1.5F && back.card.is_full && back.card.limit == 2.5F);
  ASSERT_EQ(back.records.size(), 2u);
  const Record& r = back.records[0];
  EXPECT_EQ(r.origin, full.origin);
  EXPECT_EQ(r.version, 5u);
  EXPECT_EQ(r.name + r.address, "namehost:1");
  EXPECT_TRUE(r.joined && r.stopped && !r.left && r.ended);
  EXPECT_EQ(r.joined_at, 6u);
  EXPECT_EQ(r.t, 7u);
  EXPECT_EQ(r.computed, 8u);
  EXPECT_EQ(r.ending, StopReason{1});
  EXPECT_EQ(r.early_loss, 0.5);
  EXPECT_EQ(r.names, full.names);
  EXPECT_EQ(r.ready, full.ready);
  EXPECT_EQ(r.digest, full.digest);
  EXPECT_TRUE(back.records[1].left && !back.records[1].ending);
}

TEST(Messages, BringGradientsBundlesAndModels) {
  const auto gradient = carried(GradientMessage{facts(2, b), 3, NumberFormat::of_double});
  EXPECT_EQ(gradient.facts.name, (GradientName{WorkerId{0}, 2}));
  EXPECT_EQ(gradient.facts.origin_step, 2u);
  EXPECT_EQ(gradient.facts.eta, 0.25);
  EXPECT_EQ(gradient.facts.samples, 9u);
  EXPECT_EQ(gradient.facts.compute_set.prefix(WorkerId{0}), 2u);
  EXPECT_EQ(gradient.shift, 3);
  EXPECT_EQ(gradient.format, NumberFormat::of_double);
  const auto bundle = carried(BundleMessage{{facts(1), facts(2)}, NumberFormat::of_double});
  ASSERT_EQ(bundle.facts.size(), 2u);
  EXPECT_EQ(bundle.facts[1].name, (GradientName{WorkerId{1}, 2}));
  EXPECT_EQ(bundle.facts[1].compute_set.prefix(WorkerId{1}), 2u);
  EXPECT_EQ(bundle.format, NumberFormat::of_double);
  Snapshot snapshot{{}, 11, NumberFormat::of_double};
  snapshot.names.insert({b, 5});
  const auto model = carried(snapshot);
  EXPECT_TRUE(model.names.size() == 1 && model.names.contains({WorkerId{0}, 5}));
  EXPECT_EQ(model.samples, 11u);
  EXPECT_EQ(model.format, NumberFormat::of_double);
}

TEST(Messages, TextsAreReadUpToTheirLimits) {
  const auto limit = [](std::size_t longest, const std::function<Message(std::string)>& with) {
    EXPECT_TRUE(read(with(std::string(longest, 'x')))) << longest;
    EXPECT_FALSE(read(with(std::string(longest + 1, 'x')))) << longest;
  };
  limit(longest_name, [](std::string text) { return Hello{run, {3, 4}, text, "", ""}; });
  limit(longest_address, [](std::string text) { return Hello{run, {3, 4}, "", text, ""}; });
  limit(longest_facts, [](std::string text) { return Hello{run, {3, 4}, "", "", text}; });
  limit(longest_settings, [](std::string text) { return Welcome{text, "", {}, {}}; });
  limit(longest_facts, [](std::string text) { return Welcome{"", text, {}, {}}; });
  limit(longest_address, [](std::string text) { return Welcome{"", "", {"", text}, {}}; });
  limit(longest_facts, [](std::string text) { return Refusal{text}; });
  limit(longest_token, [](std::string text) { return Rotation{1, text, run}; });
  limit(longest_word, [](std::string text) { return Word{{3, 4}, 1, text}; });
  limit(longest_address, [](std::string text) {
    Report report;
    report.records = {{.origin = {3, 4}, .address = text}};
    return report;
  });
}

TEST(Messages, GradientsThatCannotBeAreRefused) {
  const auto is_read = [](GradientFacts g) {
    return read(GradientMessage{g, 0, NumberFormat::of_float}).has_value();
  };
  GradientFacts g = facts(2);
  EXPECT_TRUE(is_read(g));
  g.origin_step = 3;
  EXPECT_FALSE(is_read(g));  // not the size of its set
  g = facts(2);
  g.name.sequence = 1;
  EXPECT_FALSE(is_read(g));  // it would know itself
  for (const double eta : {infinite, -infinite, std::numeric_limits<double>::quiet_NaN()}) {
    g = facts(2);
    g.eta = eta;
    EXPECT_FALSE(is_read(g));
  }
  g = facts(2);
  g.name.sequence = std::numeric_limits<std::uint32_t>::max() - 1;
  EXPECT_TRUE(is_read(g));
  ++g.name.sequence;
  EXPECT_FALSE(is_read(g));
  g = facts(2);
  g.name.origin = WorkerId{2};
  EXPECT_FALSE(is_read(g));  // it was not introduced
  EXPECT_FALSE(read(GradientMessage{facts(2), 0, NumberFormat{7}}));
}

TEST(Messages, BundlesOfNoneOrWithANameTwiceAreRefused) {
  const auto is_read = [](std::vector<GradientFacts> all) {
    return read(BundleMessage{std::move(all), NumberFormat::of_float}).has_value();
  };
  EXPECT_TRUE(is_read({facts(4), facts(5), facts(6)}));
  EXPECT_FALSE(is_read({}));
  EXPECT_TRUE(is_read({facts(4)}));  // what was left of more
  EXPECT_FALSE(is_read({facts(4), facts(4)}));
  EXPECT_FALSE(is_read({facts(4), facts(5), facts(4)}));
  EXPECT_TRUE(is_read({facts(5), facts(4)}));
  EXPECT_TRUE(is_read({facts(4), facts(7, b)}));  // of a relay
}

TEST(Messages, RecordsThatCannotBeAreRefused) {
  const auto is_read = [](const Record& record) {
    Report report;
    report.records = {record};
    return read(report).has_value();
  };
  const auto last = static_cast<StopReason>(stop_reason_names.size() - 1);
  EXPECT_TRUE(is_read({.origin = {3, 4}, .ending = last}));
  EXPECT_FALSE(is_read({.origin = {3, 4}, .ending = StopReason{static_cast<int>(last) + 1}}));
  EXPECT_FALSE(is_read({.origin = {3, 4}, .version = highest_version + 1}));
  for (const double loss : {-1.0, infinite, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(is_read({.origin = {3, 4}, .early_loss = loss}));
  EXPECT_FALSE(read(Welcome{"", "", {}, {1, 1, infinite}}));
}

TEST(Messages, WhatIsNeitherYesNorNoIsRefused) {
  Introductions out, in;
  Roster nobody, there;
  Bytes bytes = encode(Goodbye{true, {}, {}}, out, nobody);
  std::byte& ended = bytes[bytes.size() - 2 * sizeof(Hash) - 1];
  ASSERT_EQ(ended, std::byte{1});
  EXPECT_TRUE(decode(bytes, in, there));
  ended = std::byte{2};
  EXPECT_FALSE(decode(bytes, in, there));
}

TEST(Messages, OfAnUnknownKindAreRefused) {
  Introductions out, in;
  Roster nobody, there;
  Bytes bytes = encode(Want{}, out, nobody);
  EXPECT_TRUE(decode(bytes, in, there));
  bytes.back() = std::byte{11};
  EXPECT_FALSE(decode(bytes, in, there));
}

TEST(Messages, HaveAKindThatCanBeReadAlone) {
  const std::vector<Message> all{Hello{},           Welcome{}, Refusal{},       Report{},
                                 GradientMessage{}, Want{},    Snapshot{},      Goodbye{},
                                 Rotation{},        Word{},    BundleMessage{}, ModelDigest{}};
  Roster roster;
  roster.number({1, 1});
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    Introductions out;
    Bytes bytes = encode(all[kind], out, roster);
    EXPECT_EQ(kind_of(bytes), kind);
    bytes[sizeof(std::uint64_t) + sizeof(Origin)] =
        std::byte{kind_names.size()};  // behind one origin
    EXPECT_EQ(kind_of(bytes), std::nullopt);
  }
}

}  // namespace
}  // namespace dasgd::elastic::messages
