#include "setting_groups.hpp"
#include "setting_kinds.hpp"

namespace dasgd::app {

std::vector<Setting> stream_settings() {
  return {
      {"format", "--format", Setting::Kind::value, "csv|libsvm",
       "of rows that arrive (--data - or follow:FILE); by default the first line tells",
       [](Config& c, const std::string& v) { c.format = parse_row_format(v); },
       [](const Config& c) {
         return c.format ? std::optional(quoted(to_string(*c.format))) : std::nullopt;
       }},
      count("features", "--features",
            "of rows that arrive (default: the first row of CSV tells, else the first 1,000)",
            &Config::features, 1),
      count("classes", "--classes",
            "of rows that arrive, for softmax (default: the first 1,000 rows tell)",
            &Config::classes, 2),
  };
}

}  // namespace dasgd::app
