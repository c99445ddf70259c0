#include <algorithm>
#include <fmt/format.h>

#include "dasgd/core/error.hpp"
#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/setting_kinds.hpp"
#include "dasgd/settings/virtual_world.hpp"

namespace dasgd::config {
namespace {

Nanoseconds parse_time(const std::string& text) { return parse_duration(text).count(); }
std::string show_time(Nanoseconds time) { return show_duration(std::chrono::nanoseconds(time)); }

std::vector<std::string> parts_of(const std::string& text, std::size_t count, const char* form) {
  auto parts = split(text, ':');
  if (parts.size() != count) throw InputError("\"" + text + "\" is not of the form " + form);
  return parts;
}

double parse_share(const std::string& text) {
  const double value = text.empty() ? 0 : parse_real(text);
  if (!(value >= 0 && value < 1))
    throw InputError("\"" + text + "\" is not a share from 0 to below 1");
  return value;
}

std::vector<WorkerId> parse_side(const std::string& text) {
  std::vector<WorkerId> side;
  for (const std::string& part : split(text, ','))
    side.push_back(worker_id(parse_whole(part, most32)));
  return side;
}

std::string show_side(const std::vector<WorkerId>& side) {
  std::vector<std::size_t> workers;
  for (const WorkerId worker : side) workers.push_back(index(worker));
  return fmt::format("{}", fmt::join(workers, ","));
}

Chaos::Partition parse_partition(const std::string& text) {
  const auto parts = parts_of(text, 3, "A|B:AT:FOR, like 0,1|2,3:1s:500ms");
  const auto sides = split(parts[0], '|');
  if (sides.size() != 2)
    throw InputError("\"" + parts[0] + "\" does not have two sides, like 0,1|2,3");
  const auto left = parse_side(sides[0]), right = parse_side(sides[1]);
  if (std::ranges::find_first_of(left, right) != left.end())
    throw InputError("\"" + parts[0] + "\" has a worker on both sides");
  return {left, right, parse_time(parts[1]), parse_time(parts[2])};
}

Chaos::Pause parse_pause(const std::string& text) {
  const auto parts = parts_of(text, 3, "WORKER:AT:FOR, like 1:1s:500ms");
  return {worker_id(parse_whole(parts[0], most32)), parse_time(parts[1]), parse_time(parts[2])};
}

elastic::MembershipPlan::Departure parse_departure(const std::string& text) {
  const auto parts = parts_of(text, 2, "WORKER:AT, like 2:30s");
  return {worker_id(parse_whole(parts[0], most32)), parse_time(parts[1])};
}

std::string show_departure(const elastic::MembershipPlan::Departure& d) {
  return fmt::format("{}:{}", index(d.worker), show_time(d.at));
}

void set_delay(Config& config, const std::string& text) {
  const auto parts = parts_of(text, 2, "SHARE:UP_TO, like 0.1:5ms");
  config.run.chaos.delay = parse_share(parts[0]);
  config.run.chaos.delay_up_to = parse_time(parts[1]);
}

std::optional<std::string> show_delay(const Config& config) {
  const Chaos& chaos = config.run.chaos;
  if (chaos.delay == 0 && chaos.delay_up_to == 0) return std::nullopt;
  return quoted(fmt::format("{}:{}", show_real(chaos.delay), show_time(chaos.delay_up_to)));
}

// Of frames; 0 does not stand in the file.
template <typename Place>
Setting share(std::string key, std::string option, std::string help, Place at) {
  return place({key, option, "SHARE", help}, at, parse_share, [](double v) {
    return v == 0 ? std::nullopt : std::optional(quoted(show_real(v)));
  });
}

template <typename Place, typename Read>
Setting given(SettingName name, Place at, Read read) {
  return place(std::move(name), at, read, [](const auto& v) {
    return v.text.empty() ? std::nullopt : std::optional(quoted(place_from_anywhere(v.text)));
  });
}

}  // namespace

std::vector<Setting> padding_settings() {
  return {{"pace.compute", "--compute", Setting::Kind::value, "T|+T",
           "minimum time per gradient; +T adds to the gradient's own time, as the paper does",
           [](Config& c, const std::string& v) {
             c.run.compute_adds = v.starts_with('+');
             c.run.compute = parse_duration(v.substr(c.run.compute_adds ? 1 : 0));
           },
           [](const Config& c) -> std::optional<std::string> {
             if (c.run.compute.count() == 0) return std::nullopt;
             return quoted((c.run.compute_adds ? "+" : "") + show_duration(c.run.compute));
           }}};
}

std::vector<Setting> world_settings() {
  return {
      given({"pace.compute", "--compute", "T",
             "time per gradient: one value, one per worker (a,b,...), uniform:A:B, "
             "lognormal:MEDIAN:SIGMA, exponential:MEAN, or replay:RUN_DIR of a run with a trace"},
            field(&Config::world, &WorldSettings::compute), parse_compute),
      given({"pace.latency", "--latency", "T",
             "time per frame on a link: one value, a form as above, or file:PATH with \"a b TIME\" "
             "lines"},
            field(&Config::world, &WorldSettings::latency), parse_latency),
      given({"pace.apply", "--apply", "T", "time per application"},
            field(&Config::world, &WorldSettings::apply), parse_apply),
      given({"pace.start", "--start", "T,...", "when each worker begins"},
            field(&Config::world, &WorldSettings::start), parse_start),
      place(
          {"pace.arrivals", "--arrivals", "poisson:RATE|FILE",
           "samples arrive one by one, in the order of the data, for all workers together: as a "
           "Poisson process with RATE per second, or at the times in a file, one per line"},
          field(&Config::world, &WorldSettings::arrivals),
          [](const std::string& v) {
            return GivenArrivals{v, parse_arrivals(v)};
          },
          [](const GivenArrivals& v) -> std::optional<std::string> {
            if (v.text.empty()) return std::nullopt;
            return quoted(v.times->per_second > 0 ? v.text : from_anywhere(v.text));
          }),
      place({"pace.bandwidth", "--bandwidth", "RATE",
             "bandwidth of each link: 100Mbit, 12.5MB, or a number of bytes per second"},
            field(&Config::world, &WorldSettings::bandwidth), parse_rate,
            [](double v) { return quoted(show_real(v)); }),
      place({"pace.nic", "--nic", "RATE",
             "bandwidth of each worker's network card, out and in, shared by all its links: as "
             "above"},
            field(&Config::world, &WorldSettings::nic), parse_rate,
            [](double v) { return quoted(show_real(v)); }),
      place(
          {"pace.threads", "--threads", "N", "real cores that compute gradients"},
          field(&Config::world, &WorldSettings::threads),
          [](const std::string& v) { return static_cast<std::size_t>(parse_whole(v, 1024)); },
          [](std::size_t v) { return std::to_string(v); }),
  };
}

std::vector<Setting> chaos_settings() {
  return {
      {"chaos.delay", "--delay", Setting::Kind::value, "SHARE:UP_TO",
       "delay this share of frames by up to UP_TO", set_delay, show_delay},
      share("chaos.reorder", "--reorder", "let this share of frames be overtaken",
            field(&Config::run, &TrainOptions::chaos, &Chaos::reorder)),
      share("chaos.duplicate", "--duplicate", "duplicate this share of frames",
            field(&Config::run, &TrainOptions::chaos, &Chaos::duplicate)),
      share("chaos.drop", "--drop", "drop this share of frames; they are sent again",
            field(&Config::run, &TrainOptions::chaos, &Chaos::drop)),
      repeatable({"chaos.pause", "--pause", "WORKER:AT:FOR", "pause a worker"},
                 field(&Config::run, &TrainOptions::chaos, &Chaos::pauses), parse_pause,
                 [](const Chaos::Pause& p) {
                   return fmt::format("{}:{}:{}", index(p.worker), show_time(p.at),
                                      show_time(p.length));
                 }),
      repeatable({"chaos.partition", "--partition", "A|B:AT:FOR",
                  "hold frames between two sides (0,1|2,3) back for this time"},
                 field(&Config::run, &TrainOptions::chaos, &Chaos::partitions), parse_partition,
                 [](const Chaos::Partition& p) {
                   return fmt::format("{}|{}:{}:{}", show_side(p.one), show_side(p.other),
                                      show_time(p.at), show_time(p.length));
                 }),
  };
}

std::vector<Setting> membership_plan_settings() {
  const auto simulated = field(&Config::elastic, &ElasticSettings::simulated);
  return {
      repeatable(
          {"elastic.crash", "--crash", "WORKER:AT", "kill a worker at this time (repeatable)"},
          field(&Config::elastic, &ElasticSettings::membership_plan,
                &elastic::MembershipPlan::crashes),
          parse_departure, show_departure),
      repeatable({"elastic.join", "--join", "AT",
                  "another worker, with the next number, joins at this time (repeatable)"},
                 field(&Config::elastic, &ElasticSettings::membership_plan,
                       &elastic::MembershipPlan::joins),
                 parse_time, show_time),
      repeatable({"elastic.leave", "--leave", "WORKER:AT",
                  "a worker hands over its gradients and leaves at this time (repeatable)"},
                 field(&Config::elastic, &ElasticSettings::membership_plan,
                       &elastic::MembershipPlan::leaves),
                 parse_departure, show_departure),
      unless_default(flag("elastic.simulated", "--elastic",
                          "simulate an elastic run, whose members can lose contact; implied by "
                          "--crash, --join and --leave",
                          simulated),
                     simulated),
  };
}

}  // namespace dasgd::config
