// Every order of frames, ticks and steps of a few members, within bounds (docs/testing.md). States
// that are the same are gone on from once; a state is reached by replaying its events.
// With DASGD_EXPLORE=1 in the environment the worlds are larger: minutes, and up to 2 GB.
#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <memory>
#include <ostream>
#include <random>
#include <unordered_set>
#include <utility>

#include "elastic/small_world.hpp"

namespace dasgd::elastic::test {
namespace {

class Explorer {
 public:
  explicit Explorer(const SmallWorldOptions& options) : options_(options) {}

  void explore_all() { go_on_from(std::make_unique<SmallWorld>(options_)); }
  /// So many scenarios at random, where all are too many.
  void wander(std::uint64_t scenarios) {
    for (std::uint64_t seed = 1; seed <= scenarios && wrong_.empty(); ++seed) {
      std::mt19937_64 random(seed);
      SmallWorld world(options_);
      actions_.clear();
      for (auto all = world.possible(); !all.empty(); all = world.possible()) {
        Action next = all[random() % all.size()];
        if (next.kind == Action::Kind::lie && random() % 8 > 0)
          next = all[random() % 4 % all.size()];
        actions_.push_back(next);
        world.act(next);
        blame(world.wrong(), world);
      }
      end(world);
    }
  }

  /// The first that was found, and how it came to be.
  const std::string& wrong() const { return wrong_; }
  std::uint64_t ends() const { return ends_; }
  friend std::ostream& operator<<(std::ostream& to, const Explorer& e) {
    return to << e.states_.size() << " states, " << e.steps_ << " steps, " << e.ends_ << " ends";
  }

 private:
  void go_on_from(std::unique_ptr<SmallWorld> world) {
    if (!states_.insert(world->state()).second) return;
    blame(world->wrong(), *world);
    const auto all = world->possible();
    if (all.empty()) return end(*world);
    for (const Action& action : all) {
      if (!wrong_.empty()) return;
      if (!world) world = replayed();
      world->act(action);
      ++steps_;
      actions_.push_back(action);
      go_on_from(std::move(world));
      actions_.pop_back();
    }
  }
  std::unique_ptr<SmallWorld> replayed() const {
    auto world = std::make_unique<SmallWorld>(options_);
    for (const Action& action : actions_) world->act(action);
    return world;
  }

  // Nothing is left but to wait.
  void end(SmallWorld& world) {
    ++ends_;
    if (!world.run_to_the_end()) return blame("the run does not end", world);
    blame(world.wrong_at_the_end(), world);
  }

  void blame(const std::string& what, const SmallWorld& world) {
    if (what.empty() || !wrong_.empty()) return;
    wrong_ = what + "\n";
    for (const Action& action : actions_) wrong_ += action.text() + "\n";
    wrong_ += world.describe();
  }

  const SmallWorldOptions options_;
  std::vector<Action> actions_;
  std::unordered_set<std::uint64_t> states_;
  std::uint64_t steps_ = 0, ends_ = 0;
  std::string wrong_;
};

struct Explored {
  const char* name;
  SmallWorldOptions usual, large;
  friend std::ostream& operator<<(std::ostream& to, const Explored& e) { return to << e.name; }
};

class EveryOrder : public testing::TestWithParam<Explored> {};

TEST_P(EveryOrder, EndsWithModelsThatAreTheSumsOfTheirNames) {
  const bool is_large = std::getenv("DASGD_EXPLORE") != nullptr;
  Explorer explorer(is_large ? GetParam().large : GetParam().usual);
  explorer.explore_all();
  EXPECT_EQ(explorer.wrong(), "");
  EXPECT_GT(explorer.ends(), 1u);
  std::cout << explorer << "\n";
}

// Lies come last: whoever believes them says nothing false of others.
INSTANTIATE_TEST_SUITE_P(
    Worlds, EveryOrder,
    testing::Values(
        Explored{"TwoMembers", {.ticks = 1}, {.gradients = 2, .ticks = 1}},
        Explored{"QuickWorkers",
                 {.gradients = 2, .eager = true},
                 {.gradients = 2, .ticks = 2, .eager = true}},
        Explored{"ACrash", {.crash = true}, {.ticks = 2, .crash = true}},
        Explored{"AMemberLeaves", {.eager = true, .leave = true}, {.leave = true}},
        Explored{
            "AMemberJoins", {.members = 1, .join = true}, {.members = 1, .ticks = 2, .join = true}},
        Explored{"ACutAndSilence",
                 {.ticks = 0, .pauses = 1, .eager = true, .cut = true},
                 {.pauses = 1, .eager = true, .cut = true}},
        Explored{"OneOfThreeCrashes",
                 {.members = 3, .gradients = 0, .ticks = 0, .eager = true, .crash = true},
                 {.members = 3, .ticks = 0, .eager = true, .crash = true}},
        Explored{"ALie", {.ticks = 0, .lies = 1}, {.ticks = 0, .eager = true, .lies = 2}}),
    [](const auto& info) { return std::string(info.param.name); });

class SomeOrders : public testing::TestWithParam<Explored> {};

TEST_P(SomeOrders, EndLikeThat) {
  Explorer explorer(GetParam().usual);
  explorer.wander(std::getenv("DASGD_EXPLORE") ? 100'000 : 1'000);
  EXPECT_EQ(explorer.wrong(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Worlds, SomeOrders,
    testing::Values(
        Explored{
            "ACutAJoinAndACrash",
            {.members = 3, .gradients = 2, .ticks = 4, .crash = true, .cut = true, .join = true},
            {}},
        Explored{"SilenceToo",
                 {.members = 3,
                  .gradients = 2,
                  .ticks = 4,
                  .pauses = 1,
                  .crash = true,
                  .cut = true,
                  .join = true},
                 {}},
        Explored{"AJoinAndALeave",
                 {.members = 3, .gradients = 2, .ticks = 4, .join = true, .leave = true},
                 {}},
        Explored{"ManyLies", {.members = 3, .gradients = 2, .ticks = 4, .lies = 8}, {}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace dasgd::elastic::test
