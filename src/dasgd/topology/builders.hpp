// The graphs that can be chosen by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/topology/graph.hpp"

namespace dasgd {

/// full, ring, directed-ring, star (hub 0), tree:K (root 0, K children each), torus:RxC, mesh:RxC
/// (the same without wrap-around), exponential (i sends to i + 1, 2, 4, ...), random-regular:D
/// (drawn from `seed`), file:PATH (one "a b" pair per line for a two-way link, "a -> b" for a
/// one-way link, # starts a comment). Throws InputError for an unknown name, sizes that do not fit,
/// or a disconnected graph.
Graph build_graph(const std::string& spec, std::size_t workers, std::uint64_t seed);

/// Throws InputError, with a suggestion, unless `spec` is of one of the forms above.
void require_known_topology(const std::string& spec);

/// How many workers the name itself asks for: R * C for torus:RxC and mesh:RxC.
std::optional<std::size_t> workers_of(const std::string& spec);

/// The forms of `spec`, for help and suggestions.
const std::vector<std::string>& topology_names();

}  // namespace dasgd
