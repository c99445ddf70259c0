#include "dasgd/elastic/adoption/adoption_line.hpp"

#include <fmt/format.h>
#include <iterator>
#include <map>
#include <utility>

namespace dasgd::elastic {
namespace {

// {"ORIGIN":[[first,last],...],...}
std::string names_text(const GradientSet& names,
                       const std::vector<std::pair<Origin, std::string>>& numbering) {
  std::map<WorkerId, std::string> ranges;  // those beyond a gap come after all others
  names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
    std::string& of_origin = ranges[o];
    fmt::format_to(std::back_inserter(of_origin), "{}[{},{}]", of_origin.empty() ? "" : ",", first,
                   last);
  });
  std::string text;
  for (const auto& [origin, of_origin] : ranges)
    text += fmt::format("{}\"{}\":[{}]", text.empty() ? "" : ",",
                        numbering[index(origin)].first.text(), of_origin);
  return "{" + text + "}";
}

}  // namespace

std::string adoption_line(const Adoption& adoption, std::uint64_t t_before,
                          const std::vector<std::pair<Origin, std::string>>& numbering,
                          Nanoseconds now, std::optional<std::size_t> worker) {
  return fmt::format(
      "{{\"ev\":\"adopt\",{}\"time\":{},\"t_before\":{},\"t\":{},\"names\":{},\"abandoned\":{}}}\n",
      worker ? fmt::format("\"worker\":{},", *worker) : "", now, t_before, adoption.names.size(),
      names_text(adoption.names, numbering), names_text(adoption.abandoned, numbering));
}

}  // namespace dasgd::elastic
