// The contract of every transport, on MPI ranks: one worker on each, or two; updates are lent, as
// ranks of one machine do, or sent, or sent packed.
#include "transport/contract.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "mpi/ranks.hpp"

namespace dasgd::test {
namespace {

enum class Way { lent, sent, packed };

std::vector<ContractCase> cases() {
  std::vector<ContractCase> result;
  const auto add = [&](const std::string& topology, std::size_t workers, RelayMode relay,
                       std::size_t per_rank = 1, Way way = Way::lent) {
    std::string name = topology + "_" + std::to_string(workers) + "_" + to_string(relay) +
                       (per_rank > 1 ? "_by_" + std::to_string(per_rank) : "") +
                       (way == Way::lent   ? ""
                        : way == Way::sent ? "_sent"
                                           : "_packed");
    std::replace_if(
        name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
    const auto factory = [per_rank, way](const Graph& graph, RelayMode mode,
                                         std::size_t in_flight) {
      return mpi_world(graph,
                       {.relay = mode,
                        .in_flight = in_flight,
                        .message = way == Way::packed ? MessageFormat::int8 : MessageFormat::full,
                        .share_memory = way == Way::lent,
                        .update_bytes = sizeof(Number<float>),
                        .workers_per_rank = per_rank,
                        .polling = mpi::Polling::patient});
    };
    result.push_back({name, factory, topology, workers, relay});
  };
  for (const RelayMode relay : {RelayMode::arrival, RelayMode::apply}) {
    add("ring", 2, relay);
    add("ring", 7, relay);
    add("directed-ring", 6, relay);
    add("star", 6, relay);
    add("torus:2x4", 8, relay);
    add("exponential", 7, relay);
    add("random-regular:3", 8, relay);
    add("full", 5, relay);
    add("ring", 8, relay, 2);
    add("torus:2x4", 8, relay, 4);
    add("ring", 4, relay, 1, Way::sent);
    add("tree:2", 7, relay, 1, Way::sent);
  }
  add("tree:2", 8, RelayMode::arrival);
  add("tree:2", 8, RelayMode::arrival, 2, Way::sent);
  add("star", 6, RelayMode::arrival, 1, Way::packed);
  add("exponential", 5, RelayMode::arrival, 1, Way::packed);
  add("full", 6, RelayMode::none);
  add("full", 8, RelayMode::none, 2);
  add("full", 6, RelayMode::none, 1, Way::sent);
  add("full", 4, RelayMode::none, 1, Way::packed);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Mpi, TransportContract, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace dasgd::test
