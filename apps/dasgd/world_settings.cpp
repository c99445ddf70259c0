#include "setting_groups.hpp"
#include "setting_kinds.hpp"
#include "units.hpp"

namespace dasgd::app {
namespace {

using Kind = Setting::Kind;

// A text of the virtual world; reading the whole world tells whether it is right.
Setting world(std::string key, std::string option, std::string placeholder, std::string help,
              std::string WorldText::*member) {
  return {key,
          option,
          Kind::value,
          placeholder,
          help,
          [member](Config& c, const std::string& v) {
            WorldText alone;
            alone.*member = v;
            make_world(alone);
            c.world.*member = v;
          },
          [member](const Config& c) {
            return (c.world.*member).empty() ? std::nullopt
                                             : std::optional(quoted(c.world.*member));
          }};
}

Setting world_list(std::string key, std::string option, std::string placeholder, std::string help,
                   std::vector<std::string> WorldText::*member) {
  return {key,
          option,
          Kind::repeatable,
          placeholder,
          help,
          [member](Config& c, const std::string& v) {
            WorldText alone;
            (alone.*member).push_back(v);
            make_world(alone);
            (c.world.*member).push_back(v);
          },
          [member](const Config& c) -> std::optional<std::string> {
            if ((c.world.*member).empty()) return std::nullopt;
            std::vector<std::string> items;
            for (const std::string& item : c.world.*member) items.push_back(quoted(item));
            return list(items);
          }};
}

}  // namespace

std::vector<Setting> world_settings() {
  return {
      world("pace.compute", "--compute", "T",
            "time per gradient: one value, one per worker (a,b,...), uniform:A:B, "
            "lognormal:MEDIAN:SIGMA, exponential:MEAN, or replay:RUN_DIR of a run with a trace",
            &WorldText::compute),
      world("pace.latency", "--latency", "T",
            "time per frame on a link: one value, a form as above, or file:PATH with "
            "\"a b TIME\" lines",
            &WorldText::latency),
      world("pace.apply", "--apply", "T", "time per application", &WorldText::apply),
      world("pace.start", "--start", "T,...", "when each worker begins", &WorldText::start),
      world("pace.bandwidth", "--bandwidth", "BYTES",
            "bytes per second of each link; frames queue for it", &WorldText::bandwidth),
      {"pace.threads", "--threads", Kind::value, "N", "real cores that compute gradients ahead",
       [](Config& c, const std::string& v) { c.world.threads = parse_whole(v, 1024); },
       [](const Config& c) { return std::optional(std::to_string(c.world.threads)); }},
  };
}

std::vector<Setting> chaos_settings() {
  return {
      world("chaos.delay", "--delay", "SHARE:UP_TO",
            "this share of frames takes longer, by up to UP_TO", &WorldText::delay),
      world("chaos.reorder", "--reorder", "SHARE", "this share of frames may be overtaken",
            &WorldText::reorder),
      world("chaos.duplicate", "--duplicate", "SHARE", "this share of frames arrives twice",
            &WorldText::duplicate),
      world("chaos.drop", "--drop", "SHARE", "this share of frames is lost and sent again",
            &WorldText::drop),
      world_list("chaos.pause", "--pause", "WORKER:AT:FOR",
                 "a worker begins nothing new for a while", &WorldText::pauses),
      world_list("chaos.partition", "--partition", "A|B:AT:FOR",
                 "frames between two sides (0,1|2,3) wait until it heals", &WorldText::partitions),
  };
}

}  // namespace dasgd::app
