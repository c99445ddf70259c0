#include "dasgd/settings/tasks/variation.hpp"

#include <gmock/gmock.h>

#include "dasgd/core/error.hpp"
#include "support/message.hpp"

namespace dasgd::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> values(const std::string& text) {
  return parse_variation(Command::simulate, text).values;
}

std::string variation_refusal(const std::string& text, Command command = Command::simulate) {
  return test::message_of<InputError>([&] { parse_variation(command, text); });
}

TEST(Variation, IsAListOfValues) {
  EXPECT_EQ(parse_variation(Command::simulate, "workers=1,10,100").key, "workers");
  EXPECT_THAT(values("workers=1,10,100"), ElementsAre("1", "10", "100"));
  EXPECT_THAT(values("topology.kind=full,ring,torus:2x3"),
              ElementsAre("full", "ring", "torus:2x3"));
}

TEST(Variation, SeveralKeysMayChangeTogether) {
  const auto all = parse_variations(Command::simulate, "lr+rule=0.1+sgd,0.01+adam,0.1+adam");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].key, "lr");
  EXPECT_THAT(all[0].values, ElementsAre("0.1", "0.01", "0.1"));
  EXPECT_EQ(all[1].key, "rule.kind");
  EXPECT_THAT(all[1].values, ElementsAre("sgd", "adam", "adam"));
  EXPECT_EQ(parse_variations(Command::simulate, "workers=1,2").size(), 1u);
  const auto refused = [](const std::string& text) {
    return test::message_of<InputError>([&] { parse_variations(Command::simulate, text); });
  };
  EXPECT_THAT(refused("lr+workers=0.1,0.2"), HasSubstr("\"0.1\" has 1 values for 2 keys"));
  EXPECT_THAT(refused("lr+lr=0.1+0.2"), HasSubstr("a key is given twice"));
  EXPECT_THAT(refused("lr+workers=0.1+2,0.1+2"), HasSubstr("the same values are given twice"));
  EXPECT_THAT(refused("lr+workers=0.1+x"), HasSubstr("workers = x"));
}

TEST(Variation, TakesSemicolonsWhereValuesHaveCommas) {
  EXPECT_THAT(values("pace.compute=1ms,2ms;3ms,4ms"), ElementsAre("1ms,2ms", "3ms,4ms"));
}

TEST(Variation, IsARangeWithBothEnds) {
  EXPECT_THAT(values("lr=1e-4..1e-1:log:4"), ElementsAre("0.0001", "0.001", "0.01", "0.1"));
  EXPECT_THAT(values("lr=0.1..0.5:lin:3"), ElementsAre("0.1", "0.3", "0.5"));
  EXPECT_THAT(values("pace.latency=1ms..100ms:log:3"), ElementsAre("1ms", "10ms", "100ms"));
}

TEST(Variation, RoundsARangeOfWholeNumbers) {
  EXPECT_THAT(values("workers=1..100:log:4"), ElementsAre("1", "5", "22", "100"));
}

TEST(Variation, SuggestsTheKeyThatWasMeant) {
  EXPECT_THAT(variation_refusal("wrokers=1"), HasSubstr("did you mean \"workers\"?"));
  EXPECT_THAT(variation_refusal("epochs=1"), HasSubstr("did you mean \"budget.epochs\"?"));
  EXPECT_THAT(variation_refusal("pace.latency=1ms", Command::train),
              HasSubstr("not a key of train"));
  EXPECT_THAT(variation_refusal("output.trace=true"), HasSubstr("unknown key"));
  EXPECT_THAT(variation_refusal("nothing-like-it=1"), HasSubstr("dasgd simulate --help"));
}

TEST(Variation, SaysWhatIsWrongWithItsValues) {
  EXPECT_THAT(variation_refusal("lr"), HasSubstr("write KEY=a,b,c"));
  EXPECT_THAT(variation_refusal("lr="), HasSubstr("write KEY=a,b,c"));
  EXPECT_THAT(variation_refusal("lr=0.1,-1"), HasSubstr("lr = -1"));
  EXPECT_THAT(variation_refusal("lr=0.1,0.2,0.1"), HasSubstr("is given twice"));
  EXPECT_THAT(variation_refusal("lr=0.1,0.10"), HasSubstr("lr = 0.10 is given twice"));
  EXPECT_THAT(variation_refusal("lr=1..2"), HasSubstr("a..b:log:n"));
  EXPECT_THAT(variation_refusal("lr=1..2:cubic:3"), HasSubstr("a..b:log:n"));
  EXPECT_THAT(variation_refusal("lr=0..1:log:3"), HasSubstr("must be positive"));
  EXPECT_THAT(variation_refusal("lr=x..1:log:3"), HasSubstr("not a number"));
  EXPECT_THAT(variation_refusal("lr=1..2:lin:1"), HasSubstr("at least 2"));
  EXPECT_THAT(variation_refusal("pace.latency=1ms..1s:log:3"), HasSubstr("same unit"));
  EXPECT_THAT(variation_refusal("workers=1..3:lin:9"), HasSubstr("twice"));
}

}  // namespace
}  // namespace dasgd::config
