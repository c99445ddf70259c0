// What must hold of every member that ended, recounted from what every name means.
#include <algorithm>
#include <fmt/format.h>

#include "dasgd/elastic/world/sim_member.hpp"

namespace dasgd::elastic {

template <typename Real>
std::string World<Real>::verify() const {
  if (!wrong_.empty()) return wrong_;
  for (const auto& member : members_) {
    const SimMember<Real>& m = *member;
    if (!m.alive || !m.over || !m.protocol.has_joined()) continue;
    const std::string who = fmt::format("w{}: ", m.number);
    const GradientSet& names = m.worker().applied();
    if (!(names == m.protocol.held())) return who + "it applied something else than it holds";
    if (m.worker().duplicated() > 0) return who + "a gradient was applied twice";
    // x = x^0 + the sum of what its names mean.
    std::vector<Sum<Real>> sums = sums_of<Real>(objective_.start());
    std::uint64_t samples = 0;
    bool known = true;
    const auto numbering = m.protocol.numbering();
    names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
      for (; known && first < last; ++first) {
        const auto made = made_.find({numbering[index(o)].first, first});
        known = made != made_.end();
        if (!known) break;
        const Addend<Real> one{made->second->update.template numbers<Real>().data(),
                               made->second->update.shift};
        (void)add_fused<Real>(std::span(&one, 1), sums);
        samples += made->second->samples;
      }
    });
    if (!known) return who + "it holds a name that nobody made";
    const auto held = m.worker().replica().sums();
    if (!std::equal(sums.begin(), sums.end(), held.begin(), held.end()))
      return who + "its model is not the sum of its names";
    if (samples != m.worker().samples()) return who + "its samples do not add up";
    const Protocol::Audit audit = m.protocol.audit();
    GradientSet kept = names;
    kept.unite(audit.abandoned);
    if (m.ever.count_missing_from(kept) > 0)
      return who + fmt::format("{} gradients that it had applied are gone and not listed",
                               m.ever.count_missing_from(kept));
    for (const auto& [name, lost] : audit.lost_gradients)
      if (lost == 0) return who + "a loss of nothing is listed";
  }
  return {};
}

template std::string World<float>::verify() const;
template std::string World<double>::verify() const;

}  // namespace dasgd::elastic
