// The ranks that the tests run on.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>

#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/mpi/communicator.hpp"
#include "dasgd/transport/mpi/mesh.hpp"
#include "transport/participants.hpp"

namespace dasgd::test {

/// Set by main.
mpi::Communicator*& all_ranks();

/// A network on the first ranks.
class MpiWorld final : public World {
 public:
  MpiWorld(mpi::Communicator ranks, const Graph& graph, mpi::RankMeshOptions options)
      : rank_(ranks.rank()), network_(std::move(ranks), graph, for_tests(std::move(options))) {}

  bool is_here(std::size_t worker) const override { return network_.is_here(worker_id(worker)); }
  Endpoint& endpoint(std::size_t worker) override { return network_.endpoint(worker_id(worker)); }
  mpi::RankMesh& network() { return network_; }
  int rank() const { return rank_; }

 private:
  static mpi::RankMeshOptions for_tests(mpi::RankMeshOptions options) {
    options.silence = std::chrono::minutes(2);  // eight ranks on two busy cores
    options.on_failure = [](const std::string& why) {
      std::fprintf(stderr, "rank %d: %s\n", all_ranks()->rank(), why.c_str());
      all_ranks()->abort(1);
    };
    return options;
  }
  const int rank_;
  mpi::RankMesh network_;
};

/// Collective over all ranks; nothing on those that have no part in it.
inline std::unique_ptr<MpiWorld> mpi_world(const Graph& graph, mpi::RankMeshOptions options) {
  const auto needed = static_cast<int>(graph.workers() / options.workers_per_rank);
  auto part = all_ranks()->first(needed);
  if (!part) return nullptr;
  return std::make_unique<MpiWorld>(*std::move(part), graph, std::move(options));
}

}  // namespace dasgd::test
