// What a member says at its end, and while it still evaluates.
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "dasgd/base/parse_json.hpp"
#include "dasgd/members/control_socket.hpp"
#include "members/small_run.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"
#include "tcp/proxy.hpp"

namespace dasgd::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

/// f(x) = |x - 1|^2 / 2, whose last evaluation takes as long as somebody wants.
struct Evaluated final : Objective<double> {
  std::size_t dimension() const override { return 3; }
  double gradient(std::span<const double> x, Rows, std::span<double> g) const override {
    for (std::size_t k = 0; k < g.size(); ++k) g[k] = x[k] - 1;
    return 1;
  }
  double loss(std::span<const double>) const override {
    begun = true;
    while (held) std::this_thread::sleep_for(1ms);
    return 1;
  }
  std::atomic<bool> held{false};
  mutable std::atomic<bool> begun{false};
};

TEST(LastWords, WhoEvaluatesItsModelSaysSoAndAnswers) {
  const SmallRun run;
  const TemporaryDirectory directory;
  members::MemberOptions options = run.options("a");
  options.directory = directory.path();
  std::mutex mutex;
  std::string said;
  options.say = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    said += line + "\n";
  };
  Evaluated objective;
  const auto a = members::become_member<double>(objective, run.run, options);
  auto trained = std::async(std::launch::async,
                            [&] { return members::train_member<double>(objective, run.run, *a); });
  while (a->protocol().held().size() < 5) std::this_thread::sleep_for(1ms);
  const auto status = [&] {
    return parse_json(members::ask_member(directory.path(), "status"))["over"].get<bool>();
  };
  EXPECT_FALSE(status());
  objective.begun = false;
  objective.held = true;
  a->protocol().stop_run(StopReason::asked, a->now());
  while (!objective.begun && trained.wait_for(1ms) != std::future_status::ready) {
  }
  EXPECT_TRUE(objective.begun);
  EXPECT_TRUE(status());
  EXPECT_THAT(message_of<InputError>([&] { members::ask_member(directory.path(), "stop"); }),
              HasSubstr("the run is over; this member evaluates its model"));
  {
    const std::lock_guard lock(mutex);
    EXPECT_THAT(said, HasSubstr("a: evaluating the model\n"));
  }
  objective.held = false;
  EXPECT_EQ(trained.get().failure, nullptr);
}

// Its thread goes on for a while; what it called is gone.
TEST(LastWords, WhoeverCouldNotJoinIsNotCalledAnyMore) {
  const SmallRun run;
  const auto a = run.member(run.options("a"));
  std::jthread first([&] { run.train(*a); });
  TrainOptions other = run.run;
  other.seed = 2;
  const auto b =
      members::become_member<double>(run.objective, other, run.options("b", {a->address()}));
  EXPECT_THAT(
      message_of<InputError>([&] { members::train_member<double>(run.objective, other, *b); }),
      HasSubstr("cannot join: the run has seed: 1; you have seed: 2"));
  std::atomic<int> calls{0};
  b->on_tick([&] { ++calls; });
  for (int turn = 0; turn < 60'000 && calls < 2; ++turn) std::this_thread::sleep_for(1ms);
  b->on_tick({});
  EXPECT_GE(calls, 2);
  const int seen = calls;
  std::this_thread::sleep_for(250ms);
  EXPECT_EQ(calls, seen);
  a->protocol().stop_run(StopReason::asked, a->now());
}

// Somebody between two members holds back what one of them sends until both have made many more.
TEST(LastWords, StalenessFarAboveWhatMembersExplainIsWarnedOf) {
  SmallRun run;
  TrainOptions how = run.run;
  std::mutex mutex;
  std::string warned;
  how.warn = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    warned += line + "\n";
  };
  const auto member = [&](const std::string& name, std::vector<std::string> contacts) {
    members::MemberOptions options = run.options(name, std::move(contacts));
    options.patience.gone = options.patience.alone = 600'000'000'000;
    return run.member(options);
  };
  const auto a = member("a", {});
  boost::asio::io_context context;
  Proxy proxy(context, a->address());
  std::atomic<bool> holds{false};
  std::string held;
  proxy.tamper = [&](std::string& bytes) {
    held += bytes;
    bytes.clear();
    if (!holds) bytes.swap(held);
    return true;
  };
  const auto b = member("b", {proxy.address()});
  const auto guard = boost::asio::make_work_guard(context);
  std::jthread between([&] { context.run(); });
  {
    const auto train = [&](members::Member& one) {
      return members::train_member<double>(run.objective, how, one);
    };
    const std::jthread first([&] { train(*a); }), second([&] { train(*b); });
    const auto grows = [](members::Member& one, std::size_t by) {
      const std::size_t goal = one.protocol().held().size() + by;
      while (one.protocol().held().size() < goal) std::this_thread::sleep_for(1ms);
    };
    while (!b->protocol().has_joined()) std::this_thread::sleep_for(1ms);
    grows(*b, 20);
    holds = true;
    grows(*a, 300);
    grows(*b, 300);
    holds = false;
    grows(*b, 1);
    a->protocol().stop_run(StopReason::asked, a->now());
  }
  context.stop();
  EXPECT_THAT(warned, AllOf(HasSubstr("S_avg is "), HasSubstr(" with 2 members, where about 2 is"),
                            HasSubstr("larger batches (`batch`)")));
}

}  // namespace
}  // namespace dasgd::test
