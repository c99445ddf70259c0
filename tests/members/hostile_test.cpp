// Somebody who has the token and lies: nobody else falls, and whoever says that models are
// identical is right.
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/elastic/message.hpp"
#include "members/small_run.hpp"

namespace dasgd::elastic::test {
namespace {

using dasgd::test::SmallRun;

class Liar final : public tcp::LinkEvents, public FrameSink {
 public:
  Liar(const tcp::Token& token, std::string facts, std::size_t dimension, std::uint64_t seed)
      : facts_(std::move(facts)),
        run_(token.run_id()),
        random_(seed),
        numbers_(dimension * number_bytes(NumberFormat::of_double)),
        sockets_(context_, tcp::Identity::of(token, "liar", {}), *this) {}

  /// Dials these members, lies to them for a while and goes.
  void lie_to(const std::vector<std::string>& addresses, std::size_t frames) {
    for (const std::string& address : addresses) targets_[sockets_.dial(address)] = address;
    for (left_ = frames; left_ > 0 && !targets_.empty();)
      context_.run_one_for(std::chrono::seconds(1));
    for (const auto& [link, target] : targets_) sockets_.close(link);
    context_.run_for(std::chrono::milliseconds(200));
  }
  std::size_t lies() const { return lies_; }

 private:
  struct Ways {
    Introductions names;
    Roster roster;
  };

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  Hash any_hash() { return {random_(), random_()}; }
  GradientSet any_set(Roster& roster) {
    GradientSet set;
    for (std::uint64_t n = below(4); n > 0; --n) {
      const auto origin = worker_id(below(roster.size()));
      const auto first = static_cast<std::uint32_t>(below(50));
      set.insert_range({origin, first, first + 1 + static_cast<std::uint32_t>(below(50))});
    }
    return set;
  }
  Record any_record(Roster& roster) {
    Record record{.origin = roster.origin(worker_id(below(roster.size()))),
                  .version = below(1u << 20)};
    record.name = "liar";
    record.address = below(2) ? "127.0.0.1:1" : "";
    record.joined = below(2);
    record.t = below(1000);
    record.computed = below(1000);
    record.stopped = below(4) == 0;
    record.left = below(8) == 0;
    record.ended = below(16) == 0;
    record.names = any_hash();
    record.ready = below(2) ? any_hash() : Hash{};
    record.digest = below(2) ? any_hash() : Hash{};
    return record;
  }
  Message any_message(Roster& roster) {
    switch (below(10)) {
      case 9:
        return ModelDigest{any_set(roster), any_hash()};
      case 0:
        return Want{};
      case 1:
        return Snapshot{any_set(roster), below(100), NumberFormat::of_double};
      case 2:
        return Goodbye{below(2) == 0, any_hash(), any_hash()};
      case 3:
        return Rotation{below(3), "no token", run_};
      case 5:
        return Word{below(2) ? me_ : Origin{below(3), below(3)}, below(9), "a word"};
      case 4: {
        Report report{any_set(roster), below(2) == 0, {}, below(100)};
        for (std::uint64_t n = below(3); n > 0; --n) report.records.push_back(any_record(roster));
        return report;
      }
      default: {
        GradientMessage gradient;
        gradient.facts.name = {roster.number(me_), sequence_++};
        gradient.facts.compute_set = any_set(roster);
        gradient.facts.origin_step = gradient.facts.compute_set.size();
        gradient.facts.eta = 0.1;
        gradient.facts.samples = 1;
        gradient.format = NumberFormat::of_double;
        return gradient;
      }
    }
  }

  void say(LinkId link, const Message& message, std::span<const std::byte> body = {}) {
    Ways& ways = ways_[link];
    sockets_.send(link, encode(message, ways.names, ways.roster), body);
    ++lies_;
  }
  void lie(LinkId link) {
    if (left_ == 0) return;
    --left_;
    Message message = any_message(ways_[link].roster);
    const bool has_body = std::holds_alternative<GradientMessage>(message);
    for (std::byte& b : numbers_) b = static_cast<std::byte>(below(2));
    say(link, message,
        has_body ? std::span<const std::byte>(numbers_) : std::span<const std::byte>());
  }

  FrameSink& linked(LinkId link, bool, const std::string&) override {
    ways_[link] = {};
    ways_[link].roster.number(me_);
    say(link, Hello{run_, me_, "liar", "", facts_});
    Report joined;
    joined.records.push_back({.origin = me_, .version = ++version_, .joined = true});
    say(link, joined);
    return *this;
  }
  void drained(LinkId link) override { lie(link); }
  void received(LinkId link, std::span<const std::byte> header, Nanoseconds) override {
    static_cast<void>(decode(header, ways_[link].names, ways_[link].roster));
    lie(link);
  }
  std::optional<std::span<std::byte>> body(LinkId, std::span<const std::byte>, std::uint64_t bytes,
                                           Nanoseconds) override {
    body_.resize(bytes);
    return body_;
  }
  void again(LinkId link) {
    const auto target = targets_.extract(link);
    ways_.erase(link);
    if (target.empty() || left_ == 0) return;
    --left_;
    me_ = Origin::random();  // who lied is known
    sequence_ = 0;
    targets_[sockets_.dial(target.mapped())] = target.mapped();
  }
  void dial_failed(LinkId link, tcp::DialFailure, const std::string&) override { again(link); }
  void lost(LinkId link, tcp::Loss, const std::string&) override { again(link); }

  const std::string facts_;
  const RunId run_;
  std::mt19937_64 random_;
  Bytes numbers_, body_;
  boost::asio::io_context context_;
  std::map<LinkId, std::string> targets_;
  std::map<LinkId, Ways> ways_;
  Origin me_ = Origin::random();
  std::uint32_t sequence_ = 0;
  std::uint64_t version_ = 0;
  std::size_t left_ = 0, lies_ = 0;
  tcp::Sockets sockets_;
};

class Hostile : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Hostile, AJoinerThatLiesBringsNobodyDownAndNothingFalseIsSaid) {
  const SmallRun run;
  members::MemberOptions options = run.options("a");
  options.plaintext = false;
  options.token = tcp::Token::random();
  options.patience.gone = 2'000'000'000;
  options.patience.alone = 2'000'000'000;
  const auto a = run.member(options);
  options.name = "b";
  options.contacts = {a->address()};
  const auto b = run.member(options);
  TrainResult<double> of_a, of_b;
  std::size_t lies = 0;
  {
    const std::jthread first([&] { of_a = run.train(*a); });
    const std::jthread second([&] { of_b = run.train(*b); });
    while (b->protocol().held().size() < 20)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Liar liar(*options.token, a->protocol().options().facts, run.objective.dimension(), GetParam());
    liar.lie_to({a->address(), b->address()}, 400);
    lies = liar.lies();
    for (const auto& member : {a.get(), b.get()})
      member->protocol().stop_run(StopReason::asked, member->now());
  }
  EXPECT_GT(lies, 20u);
  const RunSummary &at_a = of_a.summary, &at_b = of_b.summary;
  if (at_a.replicas_compared && at_a.replicas_identical && at_b.replicas_compared &&
      at_b.replicas_identical && at_a.elastic->at_end > 1 && at_b.elastic->at_end > 1) {
    EXPECT_EQ(at_a.replica_digest, at_b.replica_digest);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Hostile, ::testing::Range<std::uint64_t>(1, 7));

}  // namespace
}  // namespace dasgd::elastic::test
