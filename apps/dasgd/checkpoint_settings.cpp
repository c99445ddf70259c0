#include <fmt/format.h>

#include "setting_groups.hpp"
#include "units.hpp"

namespace dasgd::app {

std::vector<Setting> checkpoint_settings() {
  return {
      {"checkpoint.every", "--checkpoint-every", Setting::Kind::value, "T",
       "write a checkpoint this often and at the end; 0 writes none (default: 60s)",
       [](Config& c, const std::string& v) { c.checkpoint_every = parse_duration(v); },
       [](const Config& c) {
         return std::optional(fmt::format("\"{}\"", show_duration(c.checkpoint_every)));
       }},
      {"checkpoint.resume", "--resume", Setting::Kind::value, "DIR",
       "go on with the run of this directory, from its last good checkpoint and with its config",
       [](Config& c, const std::string& v) { c.resume = v; },
       // Not written: the config of a run says what it is, not how it came about.
       [](const Config&) { return std::optional<std::string>(); }, /*in_files=*/false},
  };
}

}  // namespace dasgd::app
