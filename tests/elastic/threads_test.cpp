// Which thread may do what.
#include <gtest/gtest.h>
#include <variant>

#include "elastic/peer.hpp"

namespace dasgd::elastic::test {
namespace {

// Links belong to the network's thread, and only that one knows whether it has listened.
TEST(Threads, AWorkerThatTakesAModelAfterAPauseHangsUpOnNobody) {
  Said network;
  Protocol newcomer({.origin = {1, 1}, .facts = "same", .dimension = dimension}, network);
  Peer member(newcomer, LinkId{1}, {2, 2});
  member.report(true, 1);
  newcomer.tick(2);
  ASSERT_EQ(network.count<Want>(member.link), 1u);
  ASSERT_TRUE(member.send_model(3));
  const Nanoseconds later = 10 * newcomer.options().patience.gone;
  ASSERT_TRUE(std::holds_alternative<Adoption>(newcomer.next_task(later)));
  EXPECT_TRUE(network.closed.empty());
  EXPECT_TRUE(newcomer.is_open(member.link));
  EXPECT_EQ(newcomer.audit().here, 2u);
}

}  // namespace
}  // namespace dasgd::elastic::test
