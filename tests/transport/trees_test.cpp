// Sums on trees: whatever is folded where, and in however few bits each worker sends, all end with
// the bits of the full graph.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <vector>

#include "dasgd/core/few_bits.hpp"
#include "dasgd/core/packing.hpp"
#include "dasgd/core/replica.hpp"
#include "dasgd/transport/pending.hpp"

namespace dasgd {
namespace {

constexpr std::size_t dimension = 300;  // more than a block
constexpr std::uint32_t most_made = 6;  // by each worker

/// As it comes out of a message: numbers packed and unpacked, in memory of its own.
Parcel through_a_message(const Parcel& parcel) {
  const NumberFormat format =
      parcel.bundle ? parcel.bundle->format() : parcel.gradient->update.format();
  const std::size_t each = parcel.bundle ? sum_bytes(format) : number_bytes(format);
  const Bytes packed = pack(parcel.numbers(), each);
  if (parcel.gradient) {
    auto gradient = std::make_shared<Gradient>();
    static_cast<GradientFacts&>(*gradient) = *parcel.gradient;
    gradient->update.resize_bytes(parcel.size_in_bytes(), format);
    gradient->update.shift = parcel.gradient->update.shift;
    EXPECT_TRUE(unpack(packed, each, gradient->update.bytes()));
    return GradientPtr(gradient);
  }
  const auto bundle =
      std::make_shared<Bundle>(parcel.bundle->facts(), format, parcel.size_in_bytes());
  EXPECT_TRUE(unpack(packed, each, bundle->bytes()));
  return BundlePtr(bundle);
}

/// Workers on a random tree that make gradients, send, and pass on what comes, at random moments: a
/// link carries one message at a time, and what waits for it is one bundle.
template <typename Real>
class RandomTree {
 public:
  explicit RandomTree(std::uint64_t seed) : random_(seed) {
    const std::size_t workers = 2 + below(11);
    const std::size_t reach = std::array<std::size_t, 3>{1, workers, 3}[below(3)];  // 1: a chain
    for (std::size_t i = 0; i < workers; ++i) {
      workers_.push_back(std::make_unique<One>(*this));
      if (i == 0) continue;
      const std::size_t parent = i - 1 - below(std::min(i, reach));
      workers_[i]->links.push_back({parent});
      workers_[parent]->links.push_back({i});
    }
  }

  void play() {
    while (has_more())
      for (std::size_t k = 0; k < workers_.size(); ++k) act(below(workers_.size()));
  }

  void expect_the_bits_of_the_full_graph() {
    std::shuffle(made_.begin(), made_.end(), random_);
    HostReplica<Real> reference(start());
    for (const GradientPtr& g : made_) reference.apply({&g, 1});
    for (const auto& one : workers_) {
      EXPECT_EQ(one->held.size(), made_.size());
      EXPECT_TRUE(std::ranges::equal(one->replica.sums(), reference.sums()));
    }
  }

 private:
  struct Link {
    std::size_t to;
    Pending pending = {};
    std::deque<Parcel> carries = {};  // one at most
  };
  struct One {
    explicit One(RandomTree& tree)
        : few(std::array{MessageFormat::full, MessageFormat::int8, MessageFormat::int4,
                         MessageFormat::ternary}[tree.below(4)],
              dimension),
          to_make(static_cast<std::uint32_t>(tree.below(most_made + 1))) {}

    HostReplica<Real> replica{start()};
    GradientSet held;
    FewBits<Real> few;
    std::uint32_t to_make, made = 0;
    std::vector<Sum<Real>> full = std::vector<Sum<Real>>(dimension, 0), sent = full;
    std::vector<Link> links;
  };

  static std::vector<Real> start() { return std::vector<Real>(dimension, Real{0.5}); }
  std::size_t below(std::size_t n) { return random_() % n; }
  bool has_more() const {
    return std::ranges::any_of(workers_, [](const auto& one) {
      return one->made < one->to_make || std::ranges::any_of(one->links, [](const Link& link) {
               return !link.pending.empty() || !link.carries.empty();
             });
    });
  }

  void act(std::size_t i) {
    One& one = *workers_[i];
    if (one.made < one.to_make && below(3) == 0) return make(i);
    Link& link = one.links[below(one.links.size())];
    if (!link.carries.empty()) return arrive(i, link);
    if (!link.pending.empty()) link.carries.push_back(through_a_message(link.pending.take()));
  }

  void make(std::size_t i) {
    One& one = *workers_[i];
    std::vector<Real> g(dimension);
    const double size = std::pow(10.0, -static_cast<double>(below(9)));
    for (Real& x : g) x = static_cast<Real>(size * std::normal_distribution()(random_));
    Update exact;
    exact.resize<Real>(dimension);
    exact.shift = round_gradient<Real>(-0.1, g, exact.template numbers<Real>()).shift;
    const auto gradient = std::make_shared<Gradient>();
    gradient->name = {worker_id(i), one.made++};
    gradient->compute_set = one.held;
    ASSERT_FALSE(one.few.make(0.1, g, gradient->update));
    for (std::size_t k = 0; k < dimension; ++k) {
      one.full[k] += wide(exact, k);
      one.sent[k] += wide(gradient->update, k);
      ASSERT_TRUE(one.sent[k] + one.few.residual()[k] == one.full[k]);
    }
    made_.push_back(gradient);
    take(one, Parcel(gradient), i);
  }

  static Sum<Real> wide(const Update& update, std::size_t k) {
    return static_cast<Sum<Real>>(update.numbers<Real>()[k]) * (Sum<Real>{1} << update.shift);
  }

  void arrive(std::size_t from, Link& link) {
    const Parcel parcel = std::move(link.carries.front());
    link.carries.pop_front();
    take(*workers_[link.to], parcel, from);
  }

  /// Applies it and passes it on to all but the one from whom it came. It comes once, and after all
  /// that its origins had.
  void take(One& one, const Parcel& parcel, std::size_t from) {
    parcel.for_each([&](const GradientFacts& g) {
      EXPECT_EQ(g.compute_set.count_missing_from(one.held), 0u);
      EXPECT_TRUE(one.held.insert(g.name));
    });
    if (parcel.gradient) one.replica.apply({&parcel.gradient, 1});
    if (parcel.bundle) one.replica.apply(*parcel.bundle);
    for (Link& link : one.links)
      if (link.to != from) link.pending.add(parcel);
  }

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<One>> workers_;
  std::vector<GradientPtr> made_;
};

template <typename Real>
class Trees : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Trees, Reals);

TYPED_TEST(Trees, AThousandOfThemEndWithTheBitsOfTheFullGraph) {
  for (std::uint64_t seed = 0; seed < 1000 && !this->HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomTree<TypeParam> tree(seed);
    tree.play();
    tree.expect_the_bits_of_the_full_graph();
  }
}

}  // namespace
}  // namespace dasgd
