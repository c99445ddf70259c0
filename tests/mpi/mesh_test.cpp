// What only the MPI transport promises.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <unistd.h>

#include "dasgd/transport/mpi/shared_updates.hpp"
#include "mpi/ranks.hpp"
#include "support/file_size_limit.hpp"

namespace dasgd::test {
namespace {

using namespace std::chrono_literals;

std::byte pattern(GradientName name, std::size_t at) {
  return static_cast<std::byte>(index(name.origin) * 31 + name.sequence * 7 + at * 13 + at / 251);
}

bool is_intact(const Gradient& g, std::size_t size) {
  const auto bytes = g.update.bytes();
  if (bytes.size() != size) return false;
  for (std::size_t k = 0; k < size; ++k)
    if (bytes[k] != pattern(g.name, k)) return false;
  return true;
}

bool is_intact(const Bundle& bundle, std::size_t size, int shift) {
  std::vector<std::int64_t> sums(size / sizeof(std::int32_t));
  for (const GradientFacts& g : bundle.facts())
    for (std::size_t k = 0; k < sums.size(); ++k) {
      std::byte bytes[sizeof(std::int32_t)];
      for (std::size_t i = 0; i < sizeof(bytes); ++i)
        bytes[i] = pattern(g.name, sizeof(bytes) * k + i);
      std::int32_t number = 0;
      std::memcpy(&number, bytes, sizeof(number));
      sums[k] += std::int64_t{number} << shift;
    }
  return std::ranges::equal(bundle.sums<float>(), sums);
}

/// Whether its numbers are those in the memory of another process.
bool lies_in_shared_memory(const Gradient& g) {
  const auto at = reinterpret_cast<std::uintptr_t>(g.update.bytes().data());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && begin <= at && at < end)
      return line.find("dasgd-updates") != std::string::npos;
  }
  return false;
}

/// Sends and receives `count` gradients of `size` bytes each and checks every number.
void exchange(
    MpiWorld& world, std::size_t workers, std::uint32_t count, std::size_t size,
    const std::function<void(const Gradient&)>& look = [](const Gradient&) {}) {
  const auto self = static_cast<std::size_t>(world.rank());
  Endpoint& endpoint = world.endpoint(self);
  GradientSet applied;
  Received batch;
  for (std::uint32_t sent = 0; applied.size() < count * workers;) {
    batch.clear();
    endpoint.receive(8, batch);
    if (batch.bundle) {
      ASSERT_TRUE(is_intact(*batch.bundle, size, 5));
      for (const GradientFacts& g : batch.bundle->facts()) ASSERT_TRUE(applied.insert(g.name));
    }
    for (const GradientPtr& g : batch.gradients) {
      ASSERT_TRUE(is_intact(*g, size));
      ASSERT_EQ(g->update.shift, 5);
      look(*g);
      ASSERT_TRUE(applied.insert(g->name));
    }
    endpoint.applied(batch);
    if (!batch.empty()) continue;
    auto own = sent < count ? endpoint.blank() : nullptr;
    if (!own) {
      endpoint.wait(100ms);
      continue;
    }
    own->name = {worker_id(self), sent++};
    own->origin_step = applied.size();
    own->compute_set = applied;
    own->update.shift = 5;
    own->update.resize_bytes(size, NumberFormat::of_float);
    for (std::size_t k = 0; k < size; ++k) own->update.bytes()[k] = pattern(own->name, k);
    applied.insert(own->name);
    endpoint.send(std::move(own));
  }
}

TEST(Mpi, NumbersArriveAsTheyLeftWholeOrInPieces) {
  for (const std::size_t piece : {std::size_t{1} << 30, std::size_t{1000}, std::size_t{7}})
    for (const std::size_t size : {0, 1, 8, 1000, 4001}) {
      const auto world =
          mpi_world(build_graph("ring", 4, 1),
                    {.relay = RelayMode::arrival, .in_flight = 64, .piece_bytes = piece});
      if (world) exchange(*world, 4, 10, size);
    }
}

TEST(Mpi, MemoryIsSharedUnlessItShallNotBe) {
  for (const bool share : {true, false}) {
    const auto world = mpi_world(
        build_graph("full", 3, 1),
        {.relay = RelayMode::none, .in_flight = 64, .share_memory = share, .update_bytes = 400});
    std::size_t lent = 0;
    if (world)
      exchange(*world, 3, 20, 400, [&](const Gradient& g) { lent += lies_in_shared_memory(g); });
    EXPECT_EQ(lent > 0, share && world);
  }
}

/// A rank that is stopped while others send to it.
class WithAStoppedRank : public ::testing::Test {
 protected:
  static constexpr std::size_t d = 20'000;

  /// With all of its threads.
  static bool is_stopped(pid_t process) {
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
      std::ifstream stat(thread.path() / "stat");
      const std::string text((std::istreambuf_iterator<char>(stat)), {});
      const auto at = text.rfind(')');
      if (at == text.npos || text.substr(at + 2, 1) != "T") return false;
    }
    return true;
  }
  void send(Endpoint& endpoint, std::size_t self, std::uint32_t sequence) {
    auto own = endpoint.blank();
    own->name = {worker_id(self), sequence};
    own->origin_step = applied.size();
    own->compute_set = applied;
    own->samples = 1;
    own->update.resize<float>(d);
    own->update.shift = 0;
    std::ranges::fill(own->update.numbers<float>(), Participant::number_of(own->name));
    applied.insert(own->name);
    endpoint.send(std::move(own));
  }
  void receive_until(Endpoint& endpoint, std::size_t all) {
    for (Received batch; applied.size() < all; batch.clear()) {
      endpoint.receive(8, batch);
      for (const GradientPtr& g : batch.gradients) {
        ASSERT_TRUE(applied.insert(g->name));
        value += std::as_const(g->update).numbers<float>()[d - 1];
      }
      if (batch.bundle) {
        for (const GradientFacts& g : batch.bundle->facts()) ASSERT_TRUE(applied.insert(g.name));
        value += batch.bundle->sums<float>()[d - 1];
      }
      endpoint.applied(batch);
      if (batch.empty()) endpoint.wait(10ms);
    }
  }

  GradientSet applied;
  std::int64_t value = 0;
};
class StoppedRank : public WithAStoppedRank, public ::testing::WithParamInterface<const char*> {
 protected:
  static constexpr std::uint32_t count = 200;

  static std::int64_t expected_value() {
    std::int64_t expected = 0;
    for (const std::size_t origin : {0, 1})
      for (std::uint32_t k = 0; k < count; ++k)
        expected += Participant::number_of({worker_id(origin), k});
    return expected;
  }

  /// Ranks 0 and 1 make `count` gradients while rank 2 is stopped; it goes on afterwards.
  std::size_t most_bytes_for_it(FactsLimit facts) {
    const auto processes = all_ranks()->gather(std::to_string(::getpid()));
    std::atomic<int> running = 0;
    const bool is_mesh = std::string(GetParam()) == "full";
    const auto world = mpi_world(build_graph(GetParam(), 3, 1),
                                 {.relay = is_mesh ? RelayMode::none : RelayMode::arrival,
                                  .in_flight = 4,
                                  .share_memory = false,
                                  .update_bytes = d * sizeof(Number<float>),
                                  .facts = facts,
                                  .on_note = [&](int, const Bytes&) { ++running; }});
    if (!world) return 0;
    const auto self = static_cast<std::size_t>(world->rank());
    Endpoint& endpoint = world->endpoint(self);
    if (self == 2) {
      while (running < 2) endpoint.wait(10ms);
      ::raise(SIGSTOP);
      receive_until(endpoint, 2 * count);
      EXPECT_EQ(value, expected_value());
      return 0;
    }
    const auto stopped = static_cast<pid_t>(std::stoi(processes[2]));
    world->network().send_note(2, {});
    while (!is_stopped(stopped)) endpoint.wait(1ms);
    for (std::uint32_t k = 0; k < count; ++k) send(endpoint, self, k);
    receive_until(endpoint, 2 * count);
    const std::size_t most = world->network().most_bytes_for(2);
    sends_to_it = self == 0;
    if (sends_to_it) ::kill(stopped, SIGCONT);
    return most;
  }

  bool sends_to_it = false;  ///< on either graph
};
INSTANTIATE_TEST_SUITE_P(Mpi, StoppedRank, ::testing::Values("full", "star"),
                         [](const auto& info) { return info.param; });

// In bytes: a sum, the updates that are not in it yet, and two messages under way.
TEST_P(StoppedRank, TakesAsMuchMemoryAsOneBundleHoweverMuchWaitsForIt) {
  const std::size_t most = most_bytes_for_it({});
  constexpr std::size_t sum = d * sizeof(Sum<float>), update = d * sizeof(Number<float>);
  constexpr std::size_t facts = 2 * count * 200;
  EXPECT_LE(most, sum + (max_fused - 1) * update + 2 * sum + facts);
  if (sends_to_it) {
    EXPECT_GE(most, sum);
  }
}

// What is known of the gradients leaves in several messages.
TEST_P(StoppedRank, GetsMoreFactsThanOneMessageMayBring) {
  const std::size_t most = most_bytes_for_it({.few = 2'000, .most = 2'000});
  if (sends_to_it) {
    EXPECT_GE(most, count * 100 / 2'000 * d * sizeof(Sum<float>));
  }
}

// Rank 1 sends to rank 0, which is stopped meanwhile: two messages with a gradient each are under
// way, and one with the five that wait. Rank 2 only answers: what was posted before it was asked
// waits for rank 0 by then.
TEST_F(WithAStoppedRank, FewerBitsAreChosenByHowManyOwnGradientsAMessageBrings) {
  constexpr std::uint32_t rounds = 6, each = 7;
  const auto processes = all_ranks()->gather(std::to_string(::getpid()));
  std::atomic<std::uint32_t> notes = 0;
  const auto world =
      mpi_world(build_graph("star", 3, 1), {.message = MessageFormat::automatic,
                                            .share_memory = false,
                                            .update_bytes = d * sizeof(Number<float>),
                                            .on_note = [&](int, const Bytes&) { ++notes; }});
  if (!world) return;
  mpi::RankMesh& network = world->network();
  const auto self = static_cast<std::size_t>(world->rank());
  Endpoint& endpoint = world->endpoint(self);
  const auto wait_for_notes = [&](std::uint32_t all) {
    while (notes < all) endpoint.wait(1ms);
  };
  const auto stopped = static_cast<pid_t>(std::stoi(processes[0]));
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (self == 0) {
      wait_for_notes(round + 1);
      ::raise(SIGSTOP);
      receive_until(endpoint, (round + 1) * each);
      network.send_note(1, {});
    } else if (self == 1) {
      network.send_note(0, {});
      while (!is_stopped(stopped)) endpoint.wait(1ms);
      for (std::uint32_t k = 0; k < each; ++k) send(endpoint, self, round * each + k);
      network.send_note(2, {});
      wait_for_notes(2 * round + 1);
      ::kill(stopped, SIGCONT);
      wait_for_notes(2 * round + 2);
    } else {
      wait_for_notes(round + 1);
      network.send_note(1, {});
    }
  }
  const bool sends = self == 1;  // 16 messages are looked at: five rounds and the first of the next
  EXPECT_EQ(network.chosen_format(), sends ? MessageFormat::int8 : MessageFormat::full);
  EXPECT_EQ(network.chosen_when_waited(), sends ? (5 * each + 1) / 16.0 : 0);
}

TEST(Mpi, LargeGradientsOverlapOnATorus) {
  for (const auto& lent : {std::optional<std::size_t>(), std::optional<std::size_t>(1 << 20)}) {
    const auto world =
        mpi_world(build_graph("torus:2x4", 8, 1),
                  {.relay = RelayMode::arrival, .in_flight = 64, .update_bytes = lent});
    exchange(*world, 8, 6, 1 << 20);
  }
}

TEST(Mpi, NumbersAreReadWhereTheirOriginWroteThem) {
  for (const std::size_t size : {4, 4096, 50'004}) {
    const auto world =
        mpi_world(build_graph("full", 3, 1), {.in_flight = 256, .update_bytes = size});
    if (!world) continue;
    std::size_t lent = 0;
    exchange(*world, 3, 20, size, [&](const Gradient& g) { lent += lies_in_shared_memory(g); });
    EXPECT_GT(lent, 0u);
  }
}

// Two ranks take turns while the third receives nothing until they have done.
TEST(Mpi, ARankThatIsBehindHoldsItsShareOfTheOthersMemoryAndNoMore) {
  constexpr std::size_t size = 1000;
  constexpr std::uint32_t count = 100, last = 85;  // the third has its share after three
  const auto world = mpi_world(build_graph("full", 3, 1),
                               {.relay = RelayMode::none, .in_flight = 9, .update_bytes = size});
  if (!world) return;
  const auto self = static_cast<std::size_t>(world->rank());
  Endpoint& endpoint = world->endpoint(self);
  Received batch;
  if (self == 2) {
    endpoint.announce(0);
    while (endpoint.announced_total() != 2 * count) endpoint.wait(10ms);
    std::size_t got = 0;
    std::map<WorkerId, std::size_t> lent;
    while (got < 2 * count) {
      batch.clear();
      endpoint.receive(1000, batch);
      for (const GradientPtr& g : batch.gradients) {
        ASSERT_TRUE(is_intact(*g, size));
        lent[g->name.origin] += lies_in_shared_memory(*g);
      }
      got += batch.gradients.size() + (batch.bundle ? batch.bundle->size() : 0);
      endpoint.applied(batch);
    }
    EXPECT_EQ(got, 2 * count);
    for (const auto& [origin, number] : lent) EXPECT_LE(number, 3u) << "a third of nine";
    return;
  }
  std::size_t lent = 0;
  GradientSet applied;
  for (std::uint32_t k = 0; k < count; ++k) {
    auto own = endpoint.blank();
    own->name = {worker_id(self), k};
    own->origin_step = applied.size();
    own->compute_set = applied;
    own->update.shift = 5;
    own->update.resize_bytes(size, NumberFormat::of_float);
    for (std::size_t i = 0; i < size; ++i) own->update.bytes()[i] = pattern(own->name, i);
    applied.insert(own->name);
    endpoint.send(std::move(own));
    for (bool answered = false; !answered;) {
      batch.clear();
      endpoint.receive(1, batch);
      if (batch.empty()) endpoint.wait(10ms);
      for (const GradientPtr& g : batch.gradients) {
        ASSERT_TRUE(is_intact(*g, size));
        if (k + last >= count) lent += lies_in_shared_memory(*g);
        applied.insert(g->name);
        answered = true;
      }
      endpoint.applied(batch);
    }
  }
  EXPECT_GT(lent, 0u) << "the third has all of the memory";
  endpoint.announce(count);
  while (endpoint.announced_total() != 2 * count) endpoint.wait(10ms);
}

TEST(SharedUpdates, AreSeenByAllRanksOfTheMachineAndComeBack) {
  constexpr std::size_t slots = 3, size = 5000;
  const auto shared = mpi::SharedUpdates::create(*all_ranks(), slots, size);
  const int self = all_ranks()->rank(), ranks = all_ranks()->size();
  EXPECT_EQ(shared->borrowers(), static_cast<std::size_t>(ranks - 1));
  EXPECT_FALSE(shared->is_seen_by(self));
  std::vector<std::span<std::byte>> places;
  for (std::size_t k = 0; k < slots; ++k) {
    places.push_back(shared->place());
    ASSERT_GE(places[k].size(), size);
    EXPECT_EQ(shared->slot_of(places[k]), k);
    std::ranges::fill(places[k], static_cast<std::byte>(16 * self + static_cast<int>(k)));
  }
  EXPECT_TRUE(shared->place().empty()) << "all have been given";
  EXPECT_FALSE(shared->slot_of(std::vector<std::byte>(10)));

  const int next = (self + 1) % ranks, last = (self + ranks - 1) % ranks;
  shared->lend(1, next);
  EXPECT_FALSE(shared->is_back(1, next));
  EXPECT_TRUE(shared->is_back(1, last));
  all_ranks()->barrier();
  auto borrowed = shared->borrow(last, 1);
  ASSERT_TRUE(borrowed);
  borrowed->update.resize_bytes(size, NumberFormat::of_float);
  for (const std::byte b : std::as_const(borrowed->update).bytes())
    ASSERT_EQ(b, static_cast<std::byte>(16 * last + 1));
  all_ranks()->barrier();
  EXPECT_FALSE(shared->is_back(1, next)) << "somebody reads it";
  all_ranks()->barrier();
  borrowed.reset();
  all_ranks()->barrier();
  EXPECT_TRUE(shared->is_back(1, next));
  EXPECT_FALSE(shared->borrow(last, slots)) << "no such slot";
  EXPECT_FALSE(shared->borrow(self, 0)) << "nobody borrows from himself";
}

TEST(SharedUpdates, AreSeenOnlyByRanksWithTheSameSizes) {
  const auto size_of = [](int rank) { return rank % 2 == 0 ? 5000u : 6000u; };
  const int self = all_ranks()->rank();
  const auto shared = mpi::SharedUpdates::create(*all_ranks(), 4, size_of(self));
  for (int other = 0; other < all_ranks()->size(); ++other)
    EXPECT_EQ(shared->is_seen_by(other), other != self && size_of(other) == size_of(self)) << other;
}

TEST(SharedUpdates, HaveNoPlacesWhereNobodyBorrows) {
  auto alone = all_ranks()->first(1);
  if (!alone) return;
  EXPECT_TRUE(mpi::SharedUpdates::create(*alone, 4, 5000)->place().empty());
}

TEST(SharedUpdates, AreNotThereWhereFilesMayNotBeThatLarge) {
  const FileSizeLimit limit(4096);
  const auto shared = mpi::SharedUpdates::create(*all_ranks(), 4, 5000);
  EXPECT_EQ(shared->borrowers(), 0u);
  EXPECT_TRUE(shared->place().empty());
  EXPECT_FALSE(shared->borrow((all_ranks()->rank() + 1) % all_ranks()->size(), 0));
}

TEST(SharedUpdates, OutliveTheirMakerWhileSomebodyReads) {
  std::shared_ptr<Gradient> kept;
  {
    const auto shared = mpi::SharedUpdates::create(*all_ranks(), 1, 8);
    std::ranges::fill(shared->place(), std::byte{7});
    all_ranks()->barrier();
    kept = shared->borrow((all_ranks()->rank() + 1) % all_ranks()->size(), 0);
  }
  all_ranks()->barrier();
  ASSERT_TRUE(kept);
  kept->update.resize_bytes(8, NumberFormat::of_float);
  EXPECT_EQ(std::as_const(kept->update).bytes()[7], std::byte{7});
}

TEST(Mpi, BothWaysOfPollingDeliver) {
  for (const auto polling : {mpi::Polling::eager, mpi::Polling::patient}) {
    const auto world = mpi_world(build_graph("full", 3, 1),
                                 {.relay = RelayMode::none, .in_flight = 256, .polling = polling});
    if (world) exchange(*world, 3, 50, 100);
  }
}

TEST(Mpi, NotesArriveInOrderAndBeforeTheEnd) {
  std::vector<std::vector<std::byte>> got(8);
  {
    const auto world =
        mpi_world(build_graph("ring", 8, 1), {.on_note = [&](int from, const Bytes& note) {
                    got[static_cast<std::size_t>(from)].push_back(note[0]);
                  }});
    for (int k = 0; k < 50; ++k)
      if (world->rank() != 0) world->network().send_note(0, {static_cast<std::byte>(k)});
    world->network().close();
  }
  for (std::size_t from = 1; from < 8 && all_ranks()->rank() == 0; ++from) {
    ASSERT_EQ(got[from].size(), 50u);
    for (int k = 0; k < 50; ++k) EXPECT_EQ(got[from][static_cast<std::size_t>(k)], std::byte(k));
  }
}

TEST(Mpi, MayEndWithGradientsOnTheirWay) {
  std::shared_ptr<Gradient> kept;
  {
    const auto world = mpi_world(build_graph("full", 3, 1), {.relay = RelayMode::none});
    if (!world) return;
    const auto self = static_cast<std::size_t>(world->rank());
    for (int k = 0; k < 20; ++k) Participant(self, world->endpoint(self)).send();
    kept = world->endpoint(self).blank();
  }
  EXPECT_NE(kept, nullptr);
}

TEST(Mpi, ClocksOfOneMachineAgreeWithinTheStatedError) {
  const auto now = [] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  // Ranks whose clocks were shifted find the shift again.
  const Nanoseconds shift = Nanoseconds{1'000'000'000} * all_ranks()->rank();
  const auto offsets = all_ranks()->compare_clocks([&] { return now() + shift; });
  ASSERT_EQ(offsets.size(), static_cast<std::size_t>(all_ranks()->size()));
  for (std::size_t r = 0; r < offsets.size(); ++r) {
    const Nanoseconds wrong = offsets[r].offset - 1'000'000'000 * static_cast<Nanoseconds>(r);
    EXPECT_LE(std::abs(wrong), offsets[r].error) << "rank " << r;
  }
}

TEST(Mpi, ItsLibraryIsNamedInOneLine) {
  using ::testing::AnyOf, ::testing::HasSubstr, ::testing::Not, ::testing::StartsWith;
  const std::string library = mpi::Session::library();
  EXPECT_THAT(library, AnyOf(StartsWith("Open MPI"), StartsWith("MPICH"), StartsWith("Intel")));
  EXPECT_THAT(library, Not(HasSubstr("\n")));
}

TEST(Mpi, TextsOfAnyLengthAreGathered) {
  const auto rank = static_cast<std::size_t>(all_ranks()->rank());
  const auto all = all_ranks()->gather(std::string(rank * 1000, 'x'));
  for (std::size_t r = 0; r < all.size(); ++r) EXPECT_EQ(all[r], std::string(r * 1000, 'x'));
}

}  // namespace
}  // namespace dasgd::test
