// What a member is compared by before it may take part.
#include "dasgd/elastic/membership/facts.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/elastic/message.hpp"
#include "dasgd/members/files.hpp"
#include "dasgd/members/train_member.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::members {
namespace {

TEST(Facts, NameEverySettingThatChangesWhatIsLearned) {
  const Quadratic objective = Quadratic::random(7, 4);
  TrainOptions run{.eta = 0.01, .total_gradients = 100};
  run.rule.kind = RuleOptions::Kind::momentum;
  run.rule.schedule.kind = Schedule::Kind::cosine;
  run.rule.schedule.total = 1000;
  using Change = std::function<void(TrainOptions&)>;
  const std::vector<std::pair<std::string, Change>> changes{
      {"lr: ", [](TrainOptions& o) { o.eta = 0.02; }},
      {"batch: ", [](TrainOptions& o) { o.batch = 7; }},
      {"rule: ", [](TrainOptions& o) { o.rule.kind = RuleOptions::Kind::adam; }},
      {"rule: ", [](TrainOptions& o) { o.rule.momentum = 0.8; }},
      {"rule: ", [](TrainOptions& o) { o.rule.weight_decay = 0.1; }},
      {"rule: ", [](TrainOptions& o) { o.rule.clip = 1; }},
      {"rule: ", [](TrainOptions& o) { o.make_rule = MakeRuleOf<double>(); }},
      {"schedule: ", [](TrainOptions& o) { o.rule.schedule.floor = 0.1; }},
      {"schedule: ", [](TrainOptions& o) { o.rule.schedule.warmup = 10; }},
      {"look-ahead: ", [](TrainOptions& o) { o.look_ahead = LookAhead{}; }},
      {"messages: ", [](TrainOptions& o) { o.message = MessageFormat::int8; }},
      {"sampling: ", [](TrainOptions& o) { o.sampling = Sampling::independent; }},
      {"budget: ", [](TrainOptions& o) { o.total_gradients = 200; }},
      {"budget: ", [](TrainOptions& o) { o.epochs = 3; }},
      {"on divergence: ", [](TrainOptions& o) { o.on_divergence = OnDivergence::halve; }},
      {"seed: ", [](TrainOptions& o) { o.seed = 2; }},
  };
  const std::string facts = facts_of<double>(objective, run);
  EXPECT_LT(facts.size(), elastic::longest_facts / 2);
  EXPECT_EQ(elastic::difference(facts, facts), "");
  for (const auto& [what, change] : changes) {
    TrainOptions other = run;
    change(other);
    const std::string said = elastic::difference(facts, facts_of<double>(objective, other));
    EXPECT_TRUE(said.starts_with("the run has " + what)) << what << said;
  }
}

// Readers would disagree on which of two values counts.
TEST(FormerName, IsNotReadFromAFileThatRepeatsAKey) {
  const test::TemporaryDirectory directory;
  const auto name_in = [&](const std::string& member) {
    directory.write("members.json", "[{" + member + "}]");
    return former_name(directory.path());
  };
  EXPECT_EQ(name_in(R"("worker": 0, "name": "a")"), "a");
  EXPECT_EQ(name_in(R"("name": "a", "name": "b")"), "");
}

TEST(Addresses, OthersDialWhatIsAdvertised) {
  EXPECT_EQ(reachable("10.0.0.1:7070", ""), "10.0.0.1:7070");
  EXPECT_EQ(reachable("0.0.0.0:7070", "node3:80"), "node3:80");
  EXPECT_EQ(reachable("0.0.0.0:7070", "node3:0"), "node3:7070");
  EXPECT_EQ(reachable("[::]:7070", "[2001:db8::1]:0"), "[2001:db8::1]:7070");
}

}  // namespace
}  // namespace dasgd::members
