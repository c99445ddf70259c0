// A member of a small world that says anything at any time.
#pragma once

#include <fmt/format.h>
#include <utility>
#include <vector>

#include "elastic/machine.hpp"

namespace dasgd::elastic::test {

// Of what members can say, all kinds, about all who are there. It knows what the one it talks to
// holds, and is as consistent as it likes.
struct SmallWorld::Liar {
  static constexpr std::uint64_t kinds = 31;

  Liar(Machine& m, Machine& o) : to(m), other(o) { come(); }

  void come() {
    link = LinkId{1'000 + ++times};
    names = {};
    roster = {};
    to.protocol.linked(link, false, to.clock);
    say(Hello{{}, me, "liar", "", "same"});
    say(report({about(me)}));
  }
  void say(const Message& message, const Bytes& body = {}) {
    hand_over(to, link, {encode(message, names, roster), body});
  }

  Record about(const Origin& whom) {
    const std::string name = whom == me ? "liar" : fmt::format("w{}", whom.high - 1);
    return {.origin = whom, .version = version += 10, .name = name, .joined = true};
  }
  Report report(std::vector<Record> records, GradientSet held = {}, bool streams = true) {
    return {std::move(held), streams, std::move(records), 0};
  }
  WorkerId number(const Origin& origin) { return roster.number(origin); }
  /// What the other end holds, in our numbers.
  GradientSet theirs() {
    GradientSet set;
    const auto numbering = to.protocol.numbering();
    to.protocol.held().for_each_range_missing_from(
        {}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
          set.insert_range({number(numbering[index(o)].first), first, last});
        });
    return set;
  }
  GradientSet theirs_and(const Origin& origin, std::uint32_t last) {
    GradientSet set = theirs();
    set.insert_range({number(origin), 0, last});
    return set;
  }
  Record stopped(const Origin& whom) {
    Record r = about(whom);
    r.stopped = true;
    r.names = to.protocol.audit().names;
    return r;
  }
  void gradient(const Origin& origin, std::uint32_t sequence) {
    GradientMessage message;
    message.facts.name = {number(origin), sequence};
    message.facts.samples = 1;
    say(message, Bytes(4 * dimension, std::byte(1 + to.number)));  // another one to everybody
  }
  void model(const GradientSet& set) {
    say(Snapshot{set, set.size(), NumberFormat::of_float}, Bytes(8 * dimension, std::byte{9}));
  }

  void lie(std::uint64_t what) {
    lies.push_back(what);
    const Origin their = to.protocol.options().origin, others = other.protocol.options().origin;
    const Origin& whom = what % 2 == 0 ? others : me;
    Record r = about(whom);
    switch (what) {
      case 0:
      case 1:
        r.left = true;
        return say(report({r}));
      case 2:
      case 3:
        r.ended = true;
        r.names = to.protocol.audit().names;
        r.digest = {1, 2};
        return say(report({r}));
      case 4:
      case 5:
        return say(report({stopped(whom)}, theirs()));
      case 6:
      case 7:
        r = stopped(whom);
        r.ready = StateOf::ready(to.protocol);
        return say(report({r}, theirs()));
      case 8:
      case 9:  // "We are the same."
        r = stopped(me);
        r.digest = digest_of(to.worker);
        r.ready = StateOf::ready(to.protocol);
        return say(report({r}, theirs()));
      case 10:
      case 11:
        return say(report({about(me)}, theirs_and(whom, 5), true));
      case 12:
      case 13:
        return say(report({about(me)}, theirs_and(whom, 5), false));
      case 14:
      case 15:
        return gradient(whom, 0);
      case 16:
        return gradient(others, 1);
      case 17:
        return gradient(their, to.worker.computed());
      case 18:
        return model(theirs_and(me, 3));
      case 19:
        return model(theirs_and(their, 9));
      case 20:
        return model({});
      case 21:
        return say(Want{});
      case 22:
        return say(Goodbye{true, to.protocol.audit().names, {3, 4}});
      case 23:
        return say(Goodbye{true, {5, 6}, {}});
      case 24:
        return say(Goodbye{});
      case 25:
        r.ending = StopReason::asked;
        return say(report({r}));
      case 26:
        return say(Rotation{3, "token", {}});
      case 27:
        return say(Refusal{"go away"});
      case 28:
        return say(report({about(their)}, theirs_and(their, 9)));
      case 29:  // "The other one is the same as you."
        r = stopped(others);
        r.digest = digest_of(to.worker);
        return say(report({r}, theirs()));
      default:
        return come();
    }
  }

  Machine& to;
  Machine& other;
  const Origin me{99, 99};
  LinkId link{};
  std::uint64_t times = 0, version = 0;
  Introductions names;
  Roster roster;
  std::vector<std::uint64_t> lies;
};

}  // namespace dasgd::elastic::test
