// The ranks that the tests run on.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "dasgd/topology/builders.hpp"
#include "dasgd/transport/mpi/communicator.hpp"
#include "dasgd/transport/mpi/network.hpp"
#include "transport/participants.hpp"

namespace dasgd::test {

/// Set by main.
mpi::Communicator*& all_ranks();

/// A network on the first ranks.
class MpiWorld final : public World {
 public:
  MpiWorld(mpi::Communicator ranks, const Graph& graph, mpi::NetworkOptions options)
      : ranks_(std::move(ranks)), network_(ranks_, graph, with_abort(std::move(options))) {}

  bool is_here(std::size_t worker) const override { return network_.is_here(worker_id(worker)); }
  Endpoint& endpoint(std::size_t worker) override { return network_.endpoint(worker_id(worker)); }
  mpi::Network& network() { return network_; }
  int rank() const { return ranks_.rank(); }

 private:
  mpi::NetworkOptions with_abort(mpi::NetworkOptions options) {
    options.on_failure = [this](const std::string& why) {
      std::fprintf(stderr, "rank %d: %s\n", ranks_.rank(), why.c_str());
      ranks_.abort(1);
    };
    return options;
  }
  mpi::Communicator ranks_;
  mpi::Network network_;
};

/// Collective over all ranks; nothing on those that have no part in it.
inline std::unique_ptr<MpiWorld> mpi_world(const Graph& graph, mpi::NetworkOptions options) {
  const auto needed = static_cast<int>(graph.workers() / options.workers_per_rank);
  auto part = all_ranks()->first(needed);
  if (!part) return nullptr;
  return std::make_unique<MpiWorld>(*std::move(part), graph, std::move(options));
}

}  // namespace dasgd::test
