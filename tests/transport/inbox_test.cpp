#include "dasgd/transport/inbox.hpp"

#include <future>
#include <gtest/gtest.h>

namespace dasgd::inboxes {
namespace {

GradientPtr gradient(std::uint32_t sequence) {
  auto g = std::make_shared<Gradient>();
  g->name = {WorkerId{0}, sequence};
  g->update.resize<float>(1);
  return g;
}

struct Box : Inbox<int> {
  explicit Box(std::uint32_t gradients) {
    for (std::uint32_t k = 0; k < gradients; ++k) put(k);
  }
  void put(std::uint32_t sequence) {
    const std::lock_guard lock(mutex());
    add(gradient(sequence), static_cast<int>(sequence));
  }
  /// How many were folded.
  std::size_t folds(bool wanted = true) {
    std::size_t count = 0;
    fold([=](const Gradient&) { return wanted; },
         [&](const std::vector<Waiting>& folded) { count += folded.size(); });
    return count;
  }
  /// Gradients, and those in a bundle.
  std::pair<std::size_t, std::size_t> takes() {
    Received received;
    std::vector<int> from;
    take(8, received, from);
    EXPECT_EQ(from.size(), received.gradients.size());
    return {received.gradients.size(), received.bundle ? received.bundle->size() : 0};
  }
};

using Taken = std::pair<std::size_t, std::size_t>;

TEST(Inbox, FoldsTheNewerHalf) {
  Box box(5);
  EXPECT_EQ(box.folds(false), 0u);
  EXPECT_EQ(box.folds(), 3u);
  EXPECT_EQ(box.depth(), 5u);
  EXPECT_EQ(box.takes(), Taken(2, 0));
  EXPECT_EQ(box.takes(), Taken(0, 3));
  EXPECT_EQ(box.depth(), 0u);
}

TEST(Inbox, FoldsAlsoTheOneThatWaits) {
  Box box(1);
  EXPECT_EQ(box.folds(), 1u);
  EXPECT_EQ(box.takes(), Taken(0, 1));
  box.put(1);  // also after others have left
  EXPECT_EQ(box.folds(), 1u);
  EXPECT_EQ(box.takes(), Taken(0, 1));
}

TEST(Inbox, BundlesThatComeOverLinksTakeTwoMoreThanTheLogarithmOfTheirGradients) {
  Box box(0);
  std::size_t gradients = 0, folded = 0;
  for (std::uint32_t k = 0; k < 1000; ++k) {
    auto bundle = std::make_shared<Bundle>();
    for (std::uint32_t i = 0; i <= k % 7; ++i, ++gradients)
      bundle->add(std::vector<GradientPtr>{gradient(static_cast<std::uint32_t>(gradients))});
    {
      const std::lock_guard lock(box.mutex());
      box.add(BundlePtr(bundle), 0);
    }
    box.fold_bundles([&](const auto& waiting) { folded += waiting.size(); });
  }
  EXPECT_EQ(box.depth(), gradients);
  EXPECT_GT(folded, 1000u);
  std::size_t bundles = 0, taken = 0;
  for (; taken < gradients; ++bundles) taken += box.takes().second;
  EXPECT_EQ(taken, gradients);
  EXPECT_LE(bundles, 2u + 12u) << "4,000 gradients";
}

TEST(Inbox, OneBundleIsLeftAlone) {
  Box box(1);
  EXPECT_EQ(box.folds(), 1u);
  int calls = 0;
  box.fold_bundles([&](const auto&) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(Inbox, WhatIsClearedIsGone) {
  Box box(3);
  box.clear();
  EXPECT_EQ(box.depth(), 0u);
  EXPECT_EQ(box.takes(), Taken(0, 0));
}

// Where nothing comes.
TEST(Inbox, AWakeEndsTheNextWait) {
  using namespace std::chrono_literals;
  Box box(0);
  box.wake();
  const auto waited = std::async(std::launch::async, [&] { box.wait(1h); });
  EXPECT_EQ(waited.wait_for(60s), std::future_status::ready);
  box.put(0);  // so that the test ends
  box.notify();
}

}  // namespace
}  // namespace dasgd::inboxes
