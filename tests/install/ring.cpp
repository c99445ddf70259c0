// A program outside the project that uses one layer.
#include <cstdio>

#include <dasgd/topology/builders.hpp>

int main() {
  const dasgd::Graph ring = dasgd::build_graph("ring", 5, 1);
  std::printf("a ring of %zu has %zu links\n", ring.workers(), ring.links());
  return ring.links() == 10 ? 0 : 1;
}
