#include "dasgd/watch/server.hpp"
#include "setting_groups.hpp"
#include "units.hpp"

namespace dasgd::app {
using Kind = Setting::Kind;

std::vector<Setting> watch_settings() {
  const auto not_written = [](const Config&) { return std::optional<std::string>(); };
  return {{"watch.port", "--watch", Kind::optional_value, "[PORT]",
           "show the run in a browser while it goes (default port: 9797; 0: any free one)",
           [](Config& c, const std::string& v) {
             c.watch_port = v.empty() ? 9797 : static_cast<unsigned short>(parse_whole(v, 65535));
           },
           not_written},
          {"watch.address", "--watch-address", Kind::value, "ADDR",
           "listen there instead of 127.0.0.1; everything then needs the token",
           [](Config& c, const std::string& v) {
             watch::is_loopback(v);
             c.watch_address = v;
           },
           not_written},
          {"watch.token", "--watch-token", Kind::value, "TOKEN",
           "the token, required of every request (default: drawn for each run)",
           [](Config& c, const std::string& v) {
             watch::require_token_form(v);
             c.watch_token = v;
           },
           not_written}};
}

}  // namespace dasgd::app
