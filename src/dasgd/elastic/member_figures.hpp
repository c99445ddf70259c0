// What a summary says of the members of a run.
#pragma once

#include <vector>

#include "dasgd/elastic/protocol.hpp"
#include "dasgd/record/run_summary.hpp"

namespace dasgd::elastic {

/// As the member knows it that this protocol is.
MemberFigures figures_of(const Protocol& protocol);
/// The digests that it has compared.
std::vector<ReplicaDigest> digests_of(const Protocol& protocol);

}  // namespace dasgd::elastic
