#include <fmt/format.h>

#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/setting_kinds.hpp"

namespace dasgd::config {
namespace {

std::string as_given(const std::string& text) {
  if (text.empty()) throw InputError("is empty");
  return text;
}

// "X" or "RIVAL=X", whose label may have equal signs of its own.
std::string checked_step(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  const std::string step = equals == text.npos ? text : text.substr(equals + 1);
  if (step == "auto" || step == "proved")
    throw InputError(
        "compare takes a number here; without `lr` it tunes, and dasgd advise prints a proved "
        "step");
  parse_positive(step);
  if (equals == 0) throw InputError("\"" + text + "\" is neither X nor RIVAL=X");
  return text;
}

// Nothing on paper is smaller or larger.
auto between(double least, double most, const char* unit) {
  return [=](const std::string& text) {
    const double value = parse_positive(text);
    if (value < least || value > most)
      throw InputError(fmt::format("{} is not between {} and {} {}", value, least, most, unit));
    return value;
  };
}

}  // namespace

std::vector<Setting> compared_step_settings() {
  return {repeatable(
      {"lr", "--lr", "X|RIVAL=X",
       "step size: the weight of one gradient in the mean model, for all rivals or for one "
       "(repeatable; default: tuned; dasgd advise prints a proved one)"},
      field(&Config::compare, &CompareSettings::lr), checked_step,
      [](const std::string& v) { return v; })};
}

std::vector<Setting> compare_settings() {
  const auto rivals = field(&Config::compare, &CompareSettings::rivals);
  return {
      {"compare.rivals", "--rivals", Setting::Kind::repeatable, "NAME[:P=X],...",
       "rivals with their parameters, or all (see: dasgd compare --list)",
       [rivals](Config& c, const std::string& text) {
         for (const std::string& rival : split(text, ',')) rivals(c).push_back(as_given(rival));
       },
       [rivals](const Config& c) {
         return rivals(c).empty() ? std::nullopt : std::optional(list(rivals(c)));
       }},
      repeatable({"compare.rival_library", "--rival-library", "FILE.so",
                  "a shared object with your own rivals (repeatable; see docs/own_rival.md)"},
                 field(&Config::compare, &CompareSettings::rival_libraries), as_given,
                 [](const std::string& v) { return v; }),
      repeatable(
          {"compare.world", "--world", "NAME|FILE.toml",
           "worlds: equal, straggler:X, lognormal:SIGMA, exponential, sqrt, slow-links, latency:X, "
           "thin-nic, birch:1..4, several joined by +, or a file with settings of simulate "
           "(repeatable)"},
          field(&Config::compare, &CompareSettings::worlds), as_given,
          [](const std::string& v) { return v; }),
      count("compare.seeds", "--seeds", "runs of each rival in each world (default: 10)",
            field(&Config::compare, &CompareSettings::seeds), 1),
      place(
          {"compare.tune", "--tune", "N|off",
           "step sizes to try for each rival in each world, 3 seeds each (default: 9)"},
          field(&Config::compare, &CompareSettings::tune),
          [](const std::string& text) -> std::size_t {
            return text == "off" ? 0 : static_cast<std::size_t>(parse_count(text, 1));
          },
          [](std::size_t n) { return n == 0 ? quoted("off") : std::to_string(n); }),
      place({"compare.engine", "--engine", "sim|threads|mpi",
             "virtual time (default), or real threads or ranks with the clocks of the world, each "
             "run beside its prediction"},
            field(&Config::compare, &CompareSettings::engine), as_given,
            [](const std::string& v) {
              return v == "sim" ? std::nullopt : std::optional(quoted(v));
            }),
      flag("compare.preempt", "--preempt",
           "stop gradients that are no longer needed (default: they are finished and wasted)",
           field(&Config::compare, &CompareSettings::preempt)),
      flag("compare.quick", "--quick",
           "tune 5 steps with one seed each and no other parameter, compare 3 seeds, evaluate most "
           "models "
           "less often",
           field(&Config::compare, &CompareSettings::quick)),
      not_written(text(
          {"compare.paper", "--paper", "DIR",
           "write figures for a paper: panels as SVG and PDF, the table as LaTeX and CSV, and a "
           "record to cite; a finished comparison is not run again"},
          field(&Config::compare, &CompareSettings::paper))),
      not_written(place({"compare.paper_width", "--paper-width", "X",
                         "width of a panel of --paper in mm, 20 to 400 (default: 84)"},
                        field(&Config::compare, &CompareSettings::paper_width),
                        between(20, 400, "mm"), show_real)),
      not_written(place({"compare.paper_font", "--paper-font", "X",
                         "font size of --paper in points, 4 to 24 (default: 8)"},
                        field(&Config::compare, &CompareSettings::paper_font),
                        between(4, 24, "points"), show_real)),
  };
}

}  // namespace dasgd::config
