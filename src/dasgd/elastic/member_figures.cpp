#include "dasgd/elastic/member_figures.hpp"

namespace dasgd::elastic {

MemberFigures figures_of(const Protocol& protocol) {
  const auto audit = protocol.audit();
  return {.members = audit.members,
          .at_end = audit.here,
          .left = audit.left,
          .lost = audit.lost_members,
          .lost_gradients = audit.lost_gradients,
          .abandoned = audit.abandoned.size(),
          .joined_at_step = audit.joined_at,
          .too_late = audit.too_late,
          .name = protocol.options().name,
          .origin = protocol.options().origin.text(),
          .set_hash = "xxh3-128:" + audit.names.text(),
          .links = audit.links};
}

std::vector<ReplicaDigest> digests_of(const Protocol& protocol) {
  std::vector<ReplicaDigest> found;
  for (const auto& [name, digest] : protocol.audit().digests)
    found.push_back({name, "xxh3-128:" + digest.text()});
  return found;
}

}  // namespace dasgd::elastic
