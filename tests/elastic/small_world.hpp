// A few members, of whom one does one thing at a time, whichever the test chooses: the network and
// the clocks are the test's. Each has a clock of its own, which goes on when it ticks.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/core/worker.hpp"
#include "dasgd/elastic/protocol.hpp"

namespace dasgd::elastic::test {

struct SmallWorldOptions {
  std::size_t members = 2;      ///< who begin together, linked to each other
  std::uint32_t gradients = 1;  ///< that each makes
  std::uint32_t ticks = 1;      ///< of each at any time; those that come round by round follow
  std::uint32_t pauses = 0;     ///< of each: ticks without a frame until others count as silent
  bool eager = false;           ///< workers are quick: only when they compute is free
  // What may happen, once each, at any time.
  bool crash = false;  ///< to the last member
  bool cut = false;    ///< between the last member and the others; and its end
  bool join = false;
  bool leave = false;      ///< the last member
  std::uint32_t lies = 0;  ///< sent at any time by one more member, which does nothing else
};

/// What can happen next.
struct Action {
  enum class Kind {
    deliver,
    connect,
    reset,
    tick,
    pause,
    look,
    crash,
    cut,
    heal,
    join,
    leave,
    lie
  };
  Kind kind{};
  std::size_t member = 0;  ///< who does it; of a wire: who dialed
  std::uint64_t link = 0;  ///< its number there; of a lie: which
  int to = 0;              ///< the end of the wire that a frame goes to

  friend auto operator<=>(const Action&, const Action&) = default;
  std::string text() const;
};

class SmallWorld {
 public:
  explicit SmallWorld(const SmallWorldOptions& options);
  ~SmallWorld();

  std::vector<Action> possible() const;
  void act(const Action& action);
  /// All get what they wait for, round by round, until everybody's run is over; false: it never is.
  bool run_to_the_end();
  std::uint64_t state() const;
  /// What is wrong now; empty: nothing.
  std::string wrong() const;
  /// The same when all is over.
  std::string wrong_at_the_end() const;
  /// All that members would say of themselves.
  std::string describe() const;

 protected:
  struct Machine;
  struct Liar;
  struct Frame {
    Bytes header, body;
    bool last = false;  // the other end hung up
  };
  struct Wire {
    std::array<std::size_t, 2> ends;
    std::array<LinkId, 2> ids;
    std::array<bool, 2> open{true, true};
    std::array<std::deque<Frame>, 2> on_the_way;  // to that end
  };
  using WireId = std::pair<std::size_t, std::uint64_t>;  // who dialed, and its number there

  void add(bool founder);
  void link_all();
  void round();
  bool is_cut(const Wire& wire) const { return is_cut(wire.ends[0], wire.ends[1]); }
  bool is_cut(std::size_t a, std::size_t b) const { return cut_ && (a == last_) != (b == last_); }
  std::string wrong_after_lies() const;
  void connect(std::size_t member, std::uint64_t link);
  void deliver(Wire& wire, int to);
  void hand_over(Wire& wire, int to, const Frame& frame);
  static void hand_over(Machine& m, LinkId id, const Frame& frame);

  const SmallWorldOptions options_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<Liar> liars_;  // the same one, as each of them sees it
  std::uint32_t lies_left_;
  std::map<WireId, Wire> wires_;
  std::size_t last_ = 0;  // of those who begin
  bool may_crash_, may_cut_, may_join_, may_leave_;
  bool cut_ = false;
  std::map<std::pair<Origin, std::uint32_t>, GradientPtr> made_;  // what every name means
  std::string wrong_;
};

}  // namespace dasgd::elastic::test
