#include "dasgd/base/files/unwritten_files.hpp"

namespace dasgd {

void UnwrittenFiles::add(const std::string& what, const std::string& why,
                         const std::string& consequence) {
  {
    const std::lock_guard lock(mutex_);
    if (!lost_.try_emplace(what, why).second) return;
  }
  if (warn_) warn_(why + "; " + consequence);
}

void UnwrittenFiles::conclude(WriteAll& write) const {
  if (warn_) return;
  const std::lock_guard lock(mutex_);
  for (const auto& [what, why] : lost_) write(what, [&why = why] { throw WriteError(why); });
}

}  // namespace dasgd
