#include "dasgd/elastic/adoption/adoption_line.hpp"

#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace dasgd::elastic {
namespace {

// {"ORIGIN":[[first,last],...],...}
std::string names_text(const GradientSet& names,
                       const std::vector<std::pair<Origin, std::string>>& numbering) {
  std::string text;
  std::optional<WorkerId> open;
  names.for_each_range_missing_from({}, [&](WorkerId o, std::uint32_t first, std::uint32_t last) {
    if (open == o) {
      text += ',';
    } else {
      text += fmt::format("{}\"{}\":[", open ? "]," : "", numbering[index(o)].first.text());
    }
    open = o;
    fmt::format_to(std::back_inserter(text), "[{},{}]", first, last);
  });
  return "{" + text + (open ? "]}" : "}");
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
