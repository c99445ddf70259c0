#include "dasgd/virtual_time/event_queue.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

namespace dasgd {
namespace {

TEST(EventQueue, GivesEventsInTheirOrderHoweverTheyWerePushed) {
  std::mt19937 random(1);
  EventQueue queue;
  std::vector<QueuedEvent> waiting;
  Nanoseconds now = 0;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    const std::size_t pushes = random() % (n < 15'000 ? 3 : 1);
    for (std::size_t k = 0; k < pushes; ++k) {
      const auto kind = static_cast<EventKind>(random() % 5);
      waiting.push_back(QueuedEvent::make(now + random() % 4, kind, random() % 100, 7));
      queue.push(waiting.back());
    }
    const auto event = queue.pop();
    const auto first =
        std::min_element(waiting.begin(), waiting.end(),
                         [](const QueuedEvent& a, const QueuedEvent& b) { return a.before(b); });
    ASSERT_EQ(event.has_value(), first != waiting.end());
    if (!event) continue;
    ASSERT_EQ(event->time, first->time);
    ASSERT_EQ(event->order, first->order);
    now = event->time;
    waiting.erase(first);
  }
}

TEST(EventQueue, GivesAnEventAtTheEndOfTime) {
  EventQueue queue;
  queue.push(QueuedEvent::make(std::numeric_limits<Nanoseconds>::max(), EventKind::look, 0, 0));
  EXPECT_TRUE(queue.pop());
  EXPECT_FALSE(queue.pop());
}

}  // namespace
}  // namespace dasgd
