#include "dasgd/topology/builders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dasgd/core/error.hpp"
#include "support/message.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::size_t> neighbours(const Graph& graph, std::size_t worker) {
  std::vector<std::size_t> result;
  for (const WorkerId n : graph.neighbours(worker_id(worker))) result.push_back(index(n));
  return result;
}

std::string refusal(const std::string& spec, std::size_t workers) {
  return test::message_of<InputError>([&] { build_graph(spec, workers, 1); });
}

TEST(Builders, MakeTheNamedGraphs) {
  EXPECT_THAT(neighbours(build_graph("full", 4, 1), 1), ElementsAre(0, 2, 3));
  EXPECT_THAT(neighbours(build_graph("ring", 5, 1), 0), ElementsAre(1, 4));
  EXPECT_THAT(neighbours(build_graph("directed-ring", 5, 1), 4), ElementsAre(0));
  EXPECT_THAT(neighbours(build_graph("star", 4, 1), 0), ElementsAre(1, 2, 3));
  EXPECT_THAT(neighbours(build_graph("star", 4, 1), 2), ElementsAre(0));
  EXPECT_THAT(neighbours(build_graph("torus:3x4", 12, 1), 0), ElementsAre(1, 3, 4, 8));
  EXPECT_THAT(neighbours(build_graph("exponential", 8, 1), 6), ElementsAre(0, 2, 7));
}

TEST(Builders, AcceptOneAndTwoWorkersEverywhere) {
  for (const char* spec : {"full", "ring", "directed-ring", "star", "exponential"}) {
    EXPECT_EQ(build_graph(spec, 1, 1).links(), 0u) << spec;
    EXPECT_EQ(build_graph(spec, 2, 1).links(), 2u) << spec;
  }
  EXPECT_EQ(build_graph("torus:1x2", 2, 1).links(), 2u);
  EXPECT_EQ(build_graph("torus:2x2", 4, 1).links(), 8u);
}

TEST(Builders, RandomRegularGraphsAreRegularSimpleConnectedAndSeeded) {
  for (const auto& [n, degree] : std::vector<std::pair<std::size_t, std::size_t>>{
           {4, 3}, {6, 2}, {10, 3}, {50, 4}, {1000, 8}, {16, 15}, {30, 27}}) {
    const std::string spec = "random-regular:" + std::to_string(degree);
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Graph graph = build_graph(spec, n, seed);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(neighbours(graph, i).size(), degree) << spec;
      const Graph again = build_graph(spec, n, seed);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(neighbours(graph, i), neighbours(again, i));
    }
  }
  EXPECT_NE(neighbours(build_graph("random-regular:4", 50, 1), 0),
            neighbours(build_graph("random-regular:4", 50, 2), 0));
}

TEST(Builders, RefuseImpossibleGraphs) {
  EXPECT_THAT(refusal("random-regular:3", 5), HasSubstr("n * degree even"));
  EXPECT_THAT(refusal("random-regular:5", 5), HasSubstr("does not exist"));
  EXPECT_THAT(refusal("random-regular:1", 4), HasSubstr("disconnected"));
  EXPECT_THAT(refusal("random-regular:x", 4), HasSubstr("write it like"));
  EXPECT_THAT(refusal("torus:2x3", 5), HasSubstr("6 places for 5 workers"));
  EXPECT_THAT(refusal("torus:2", 5), HasSubstr("write it like torus:3x4"));
  EXPECT_THAT(refusal("torus:0x5", 5), HasSubstr("write it like"));
}

TEST(Builders, SuggestTheNearestName) {
  EXPECT_THAT(refusal("rign", 4), HasSubstr("did you mean \"ring\"?"));
  EXPECT_THAT(refusal("lattice", 4), HasSubstr("choose one of full, ring"));
}

TEST(Builders, AMeshIsATorusWithoutWrapAround) {
  const Graph mesh = build_graph("mesh:3x4", 12, 1);
  EXPECT_THAT(neighbours(mesh, 0), ElementsAre(1, 4));
  EXPECT_THAT(neighbours(mesh, 5), ElementsAre(1, 4, 6, 9));
  EXPECT_THAT(neighbours(mesh, 11), ElementsAre(7, 10));
  EXPECT_EQ(mesh.links(), 2 * (3 * 3 + 2 * 4));
  EXPECT_EQ(build_graph("mesh:1x5", 5, 1).links(), 8u) << "a line";
  EXPECT_EQ(build_graph("mesh:1x1", 1, 1).links(), 0u);
  EXPECT_THAT(refusal("mesh:2x3", 5), HasSubstr("mesh:2x3 has 6 places for 5 workers"));
  EXPECT_THAT(refusal("mesh:2", 5), HasSubstr("write it like mesh:3x4"));
}

TEST(Builders, TorusAndMeshSayHowManyWorkersTheyNeed) {
  EXPECT_EQ(workers_of("torus:3x4"), 12u);
  EXPECT_EQ(workers_of("mesh:2x4"), 8u);
  EXPECT_EQ(workers_of("ring"), std::nullopt);
}

class EdgeList : public ::testing::Test {
 protected:
  std::string spec(const std::string& text) { return "file:" + directory.write("edges", text); }
  test::TemporaryDirectory directory;
};

TEST_F(EdgeList, ReadsTwoWayAndOneWayLinksAndComments) {
  const Graph graph = build_graph(spec("# a comment\n0 1\n\n1 2 # more\n2 -> 0\n1 0\n"), 3, 1);
  EXPECT_THAT(neighbours(graph, 0), ElementsAre(1));
  EXPECT_THAT(neighbours(graph, 1), ElementsAre(0, 2));
  EXPECT_THAT(neighbours(graph, 2), ElementsAre(0, 1));
}

TEST_F(EdgeList, NamesTheLineOfEveryMistake) {
  EXPECT_THAT(refusal(spec("0 1\n1 2 3\n"), 3), HasSubstr("edges:2: expected two workers"));
  EXPECT_THAT(refusal(spec("0 one\n"), 3), HasSubstr("edges:1: workers are whole numbers"));
  EXPECT_THAT(refusal(spec("0 1\n1 7\n"), 3), HasSubstr("edges:2: worker 7 does not exist"));
  EXPECT_THAT(refusal(spec("1 1\n"), 3),
              HasSubstr("edges:1: worker 1 cannot be its own neighbour"));
  EXPECT_THAT(refusal("file:/no/such/file", 3), HasSubstr("/no/such/file: cannot be opened"));
}

TEST_F(EdgeList, ADisconnectedGraphIsRefusedWithBothPartsNamed) {
  EXPECT_THAT(refusal(spec("0 1\n2 3\n"), 4),
              AllOf(HasSubstr("workers {0, 1} cannot reach workers {2, 3}"), HasSubstr("edges")));
  EXPECT_THAT(refusal(spec("0 1\n1 -> 2\n"), 3),
              HasSubstr("workers {2} cannot reach workers {0, 1}"));
}

}  // namespace
}  // namespace dasgd
