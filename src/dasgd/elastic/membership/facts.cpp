#include "dasgd/elastic/membership/facts.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace dasgd::elastic {

std::string difference(const std::string& of_run, const std::string& yours) {
  const auto lines = [](const std::string& text) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      found.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return found;
  };
  const auto ours = lines(of_run), theirs = lines(yours);
  for (std::size_t k = 0; k < std::max(ours.size(), theirs.size()); ++k) {
    const std::string a = k < ours.size() ? ours[k] : "nothing";
    const std::string b = k < theirs.size() ? theirs[k] : "nothing";
    if (a != b) return fmt::format("the run has {}; you have {}", a, b);
  }
  return {};
}

}  // namespace dasgd::elastic
