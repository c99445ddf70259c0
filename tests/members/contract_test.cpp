// The contract of every transport, kept by members of an elastic run over TCP: with TLS and
// without, all linked to all or only to some.
#include "transport/contract.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>
#include <utility>

#include "dasgd/members/member.hpp"

namespace dasgd::test {
namespace {

using members::Member;

// Members number each other as they meet; tests have one numbering for all.
class Numbered final : public Endpoint {
 public:
  explicit Numbered(Member& member) : endpoint_(member) {}
  /// What this member calls the workers of the test.
  void number(std::vector<WorkerId> ours) {
    ours_ = std::move(ours);
    theirs_.resize(ours_.size());
    for (std::size_t i = 0; i < ours_.size(); ++i) theirs_[index(ours_[i])] = worker_id(i);
  }

  void receive(std::size_t limit, Received& received) override {
    endpoint_.receive(limit, received);
    for (GradientPtr& g : received.gradients) g = renamed(*g, theirs_);
    if (received.bundle) received.bundle = renamed(*received.bundle, theirs_);
  }
  void send(GradientPtr gradient) override { endpoint_.send(renamed(*gradient, ours_)); }
  std::shared_ptr<Gradient> blank() override { return endpoint_.blank(); }
  void applied(const Received& received) override { endpoint_.applied(received); }
  Nanoseconds now() const override { return endpoint_.now(); }
  void announce(std::uint32_t computed) override { endpoint_.announce(computed); }
  std::optional<std::uint64_t> announced_total() const override {
    return endpoint_.announced_total();
  }
  void wait(std::chrono::milliseconds limit) override { endpoint_.wait(limit); }
  void wake() override { endpoint_.wake(); }
  std::size_t inbox_depth() const override { return endpoint_.inbox_depth(); }
  std::uint64_t copies_dropped() const override { return endpoint_.copies_dropped(); }
  Traffic sent() const override { return endpoint_.sent(); }
  Nanoseconds waited() const override { return endpoint_.waited(); }

 private:
  static void rename(GradientFacts& g, const std::vector<WorkerId>& names) {
    g.name.origin = names[index(g.name.origin)];
    const GradientSet was = std::exchange(g.compute_set, {});
    was.for_each_range_missing_from(
        {}, [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
          g.compute_set.insert_range({names[index(origin)], first, last});
        });
  }
  static GradientPtr renamed(const Gradient& g, const std::vector<WorkerId>& names) {
    auto copy = std::make_shared<Gradient>(g);
    rename(*copy, names);
    return copy;
  }
  static BundlePtr renamed(const Bundle& bundle, const std::vector<WorkerId>& names) {
    std::vector<GradientFacts> facts = bundle.facts();
    for (GradientFacts& g : facts) rename(g, names);
    auto copy = std::make_shared<Bundle>(std::move(facts), bundle.format(), bundle.size_in_bytes());
    std::ranges::copy(bundle.bytes(), copy->bytes().begin());
    return copy;
  }

  Endpoint& endpoint_;
  std::vector<WorkerId> ours_, theirs_;
};

class ElasticWorld final : public World {
 public:
  ElasticWorld(std::size_t workers, bool plaintext, bool sparse, std::size_t in_flight) {
    members::MemberOptions options;
    options.listen = "127.0.0.1:0";
    options.plaintext = plaintext;
    if (!plaintext) options.token = tcp::Token::random();
    options.facts = "test: contract\n";
    options.say = [](const std::string&) {};
    options.dimension = 1;
    options.limits.in_flight = in_flight;
    if (sparse) options.limits.most_in_mesh = options.limits.links = 2;
    for (std::size_t i = 0; i < workers; ++i) {
      options.name = std::to_string(i);
      members_.push_back(std::make_unique<Member>(options));
      endpoints_.push_back(std::make_unique<Numbered>(*members_.back()));
      if (i == 0) options.contacts = {members_[0]->address()};
    }
    while (!all_have_met()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    for (std::size_t i = 0; i < workers; ++i) {
      std::vector<WorkerId> ours(workers);
      const auto numbering = members_[i]->protocol().numbering();
      for (std::size_t k = 0; k < workers; ++k)
        ours[std::stoul(numbering[k].second)] = worker_id(k);
      endpoints_[i]->number(std::move(ours));
    }
  }
  Endpoint& endpoint(std::size_t worker) override { return *endpoints_[worker]; }

 private:
  // Whoever comes takes over a model, which is nobody's yet.
  bool all_have_met() {
    bool met = true;
    for (const auto& member : members_) {
      elastic::Protocol& protocol = member->protocol();
      const elastic::Task task = protocol.next_task(member->now());
      if (std::holds_alternative<elastic::CopyModel>(task)) {
        protocol.copied({{}, 0, std::make_shared<const Bytes>(protocol.options().model_bytes())},
                        member->now());
        member->nudge();
      }
      met = met && protocol.has_joined() && protocol.audit().here == members_.size();
    }
    return met;
  }

  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<Numbered>> endpoints_;
};

std::vector<ContractCase> cases() {
  const auto with = [](const std::string& name, std::size_t workers, bool plaintext, bool sparse) {
    const auto factory = [=](const Graph&, RelayMode, std::size_t in_flight) {
      return std::make_unique<ElasticWorld>(workers, plaintext, sparse, in_flight);
    };
    return ContractCase{name, factory, "full", workers, RelayMode::none};
  };
  return {with("two_with_tls", 2, false, false), with("five_with_tls", 5, false, false),
          with("five_without", 5, true, false), with("seven_with_few_links", 7, false, true)};
}

INSTANTIATE_TEST_SUITE_P(Members, TransportContract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace dasgd::test
