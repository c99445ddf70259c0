#include "dasgd/members/history.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace dasgd::members {

void History::look(const elastic::Protocol& protocol, Nanoseconds now) {
  if (now < next_) return;
  next_ = now + 1'000'000'000;
  bool changed = false;
  for (const elastic::MemberView& m : protocol.members(now)) {
    std::string& state = states_[m.origin];
    if (state == m.state || m.ended) continue;  // together with this one, it is not a change
    // A member that joins may have been here for a moment; in milliseconds.
    const double ago = state.empty() && m.state == "here" ? m.since_seconds : 0;
    const double since =
        std::max(0.0, std::round(static_cast<double>(now) * 1e-6 - ago * 1e3)) / 1e3;
    state = m.state;
    changed = true;
    file_ << nlohmann::ordered_json{{"seconds", since},
                                    {"name", m.name},
                                    {"origin", m.origin.text()},
                                    {"state", m.state}}
                 .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
          << '\n';
  }
  if (changed) file_.flush();
}

}  // namespace dasgd::members
