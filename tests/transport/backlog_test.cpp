#include "dasgd/transport/backlog.hpp"

#include <bit>
#include <deque>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <stdexcept>

#include "dasgd/random/random.hpp"
#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/relay.hpp"

namespace dasgd {
namespace {

GradientPtr gradient(std::size_t origin, std::uint32_t sequence) {
  auto g = std::make_shared<Gradient>();
  g->name = {worker_id(origin), sequence};
  g->update.resize<float>(1);
  g->update.shift = 0;
  g->update.numbers<float>()[0] = static_cast<std::int32_t>(1000 * origin + sequence);
  return g;
}

std::vector<GradientName> names_of(const Parcel& parcel) {
  std::vector<GradientName> names;
  parcel.for_each([&](const GradientFacts& g) { names.push_back(g.name); });
  return names;
}

TEST(Backlog, LeavesGradientsAloneUpToItsCap) {
  Backlog backlog(10);
  for (std::uint32_t k = 0; k < 10; ++k) backlog.add(gradient(0, k));
  for (std::uint32_t k = 0; k < 10; ++k) {
    const Parcel parcel = backlog.take();
    ASSERT_TRUE(parcel.gradient);
    EXPECT_EQ(parcel.gradient->name.sequence, k);
  }
  EXPECT_TRUE(backlog.empty());
}

TEST(Backlog, FoldsBlocksOfPowersOfTwoBeyondIt) {
  Backlog backlog(2);
  for (std::uint32_t k = 3; k < 100'000; ++k) {
    backlog.add(gradient(0, k));
    ASSERT_LE(backlog.size(), 2 + 2 * 17u);
  }
  std::uint32_t next = 3;
  std::int64_t sum = 0, expected = 0;
  for (std::uint32_t k = 3; k < 100'000; ++k) expected += k;
  while (!backlog.empty()) {
    const Parcel parcel = backlog.take();
    const auto names = names_of(parcel);
    EXPECT_TRUE(std::has_single_bit(names.size()));
    EXPECT_EQ(names.front().sequence % names.size(), 0u);
    for (const GradientName& name : names) EXPECT_EQ(name.sequence, next++);
    sum += parcel.gradient ? parcel.gradient->update.numbers<float>()[0]
                           : parcel.bundle->sums<float>()[0];
  }
  EXPECT_EQ(next, 100'000u);
  EXPECT_EQ(sum, expected);
}

TEST(Backlog, DoesNotJoinMoreFactsThanAMessageMayBring) {
  const FactsLimit limit{.few = 4 * sizeof(GradientFacts), .most = 0};
  Backlog backlog(2, limit);
  for (std::uint32_t k = 0; k < 64; ++k) backlog.add(gradient(0, k));
  EXPECT_EQ(backlog.size(), 16u);
  for (std::uint32_t next = 0; !backlog.empty();) {
    const auto names = names_of(backlog.take());
    EXPECT_EQ(names.size(), 4u);
    for (const GradientName& name : names) EXPECT_EQ(name.sequence, next++);
  }
}

TEST(Backlog, KnowsTheBytesOfTheNumbersThatItKeeps) {
  constexpr std::size_t update = sizeof(Number<float>), sum = sizeof(Sum<float>);
  Backlog backlog(2);
  for (std::uint32_t k = 0; k < 2; ++k) backlog.add(gradient(0, k));
  EXPECT_EQ(backlog.size_in_bytes(), 2 * update);
  backlog.add(gradient(0, 2));
  EXPECT_EQ(backlog.size_in_bytes(), sum + update);
  backlog.take();
  backlog.take();
  EXPECT_EQ(backlog.size_in_bytes(), 0u);
}

TEST(Backlog, RefusesABundleThatIsNoBlock) {
  Backlog backlog(1);
  auto bundle = std::make_shared<Bundle>();
  bundle->add(std::vector<GradientPtr>{gradient(0, 1), gradient(0, 2)});
  EXPECT_THROW(backlog.add(BundlePtr(bundle)), std::logic_error);
  auto three = std::make_shared<Bundle>();
  three->add(std::vector<GradientPtr>{gradient(0, 0), gradient(0, 1), gradient(0, 2)});
  EXPECT_THROW(backlog.add(BundlePtr(three)), std::logic_error);
  EXPECT_TRUE(backlog.empty());
}

/// Workers that flood over links which are behind at random.
struct Flood {
  Flood(Graph g, std::size_t cap) : graph(std::move(g)) {
    for (std::size_t i = 0; i < graph.workers(); ++i) {
      relays.emplace_back(worker_id(i), graph, RelayMode::arrival);
      for (const WorkerId to : graph.neighbours(worker_id(i)))
        links.push_back({worker_id(i), to, Backlog(cap)});
    }
    got.resize(graph.workers());
    value.resize(graph.workers());
  }
  void pass_on(WorkerId from, WorkerId source, const Parcel& parcel) {
    for (Link& link : links)
      if (link.from == from && link.to != source) link.backlog.add(parcel);
  }
  void make(std::size_t origin, std::uint32_t sequence) {
    const GradientPtr g = gradient(origin, sequence);
    relays[origin].is_first_copy(g->name);
    take_in(worker_id(origin), g);
    pass_on(worker_id(origin), worker_id(origin), g);
  }
  void take_in(WorkerId worker, const Parcel& parcel) {
    for (const GradientName& name : names_of(parcel)) {
      ASSERT_TRUE(got[index(worker)].insert(name)) << "twice";
    }
    value[index(worker)] += parcel.gradient ? parcel.gradient->update.numbers<float>()[0]
                                            : parcel.bundle->sums<float>()[0];
  }
  void move(std::size_t which) {
    Link& link = links[which];
    if (link.backlog.empty()) return;
    const Parcel parcel = link.backlog.take();
    if (!relays[index(link.to)].is_first_copy(parcel)) return;
    take_in(link.to, parcel);
    pass_on(link.to, link.from, parcel);
  }

  struct Link {
    WorkerId from, to;
    Backlog backlog;
  };
  const Graph graph;
  std::vector<Relay> relays;
  std::vector<Link> links;
  std::vector<GradientSet> got;
  std::vector<std::int64_t> value;
};

// The theorem of docs/decisions/0009, on 1,000 random graphs and schedules.
TEST(Backlog, FloodsEveryNameToEverybodyExactlyOnceWhateverIsFoldedWhere) {
  const std::vector<std::string> shapes{"ring",        "directed-ring",    "star", "torus:2x3",
                                        "exponential", "random-regular:3", "full"};
  for (std::uint32_t scenario = 0; scenario < 1000; ++scenario) {
    Random random(scenario, Purpose::scenario);
    const std::size_t n = 6;
    Flood flood(
        build_graph(shapes[random.below(static_cast<std::uint32_t>(shapes.size()))], n, scenario),
        random.below(4));
    std::vector<std::uint32_t> made(n, 0);
    std::vector<std::uint32_t> speed;
    for (std::size_t k = 0; k < flood.links.size(); ++k)
      speed.push_back(random.below(4) == 0 ? 1 : 20);
    for (int event = 0; event < 400; ++event) {
      if (random.below(3) == 0) {
        const auto origin = random.below(static_cast<std::uint32_t>(n));
        flood.make(origin, made[origin]++);
      } else {
        const auto link = random.below(static_cast<std::uint32_t>(flood.links.size()));
        if (random.below(20) < speed[link]) flood.move(link);
      }
    }
    for (bool moved = true; moved;) {
      moved = false;
      const auto first = random.below(static_cast<std::uint32_t>(flood.links.size()));
      for (std::size_t k = 0; k < flood.links.size(); ++k) {
        const std::size_t link = (first + k) % flood.links.size();
        moved = moved || !flood.links[link].backlog.empty();
        flood.move(link);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_TRUE(flood.got[i] == flood.got[0]) << "scenario " << scenario << ", worker " << i;
      ASSERT_EQ(flood.value[i], flood.value[0]);
      std::uint64_t all = 0;
      for (const std::uint32_t m : made) all += m;
      ASSERT_EQ(flood.got[i].size(), all);
    }
  }
}

}  // namespace
}  // namespace dasgd
