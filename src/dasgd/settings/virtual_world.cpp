#include "dasgd/settings/virtual_world.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sstream>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/settings/recorded_run.hpp"
#include "dasgd/settings/setting_kinds.hpp"

namespace dasgd::config {
namespace {

Nanoseconds time(const std::string& text) { return parse_duration(text).count(); }

TimeModel parse_time_model(const std::string& text) {
  const auto parts_of = [&](std::size_t count, const char* form) {
    auto parts = split(text, ':');
    if (parts.size() != count) throw InputError("\"" + text + "\" is not of the form " + form);
    return parts;
  };
  if (text.starts_with("uniform:")) {
    const auto parts = parts_of(3, "uniform:A:B");
    if (time(parts[1]) > time(parts[2])) throw InputError("\"" + text + "\": A must not exceed B");
    return TimeModel::uniform(time(parts[1]), time(parts[2]));
  }
  if (text.starts_with("lognormal:")) {
    const auto parts = parts_of(3, "lognormal:MEDIAN:SIGMA");
    const double sigma = parse_real(parts[2]);
    if (sigma < 0) throw InputError("\"" + text + "\": SIGMA must not be negative");
    return TimeModel::lognormal(time(parts[1]), sigma);
  }
  if (text.starts_with("exponential:"))
    return TimeModel::exponential(time(parts_of(2, "exponential:MEAN")[1]));
  const auto parts = split(text, ',');
  if (parts.size() == 1) return TimeModel::constant(time(text));
  std::vector<Nanoseconds> times;
  for (const std::string& part : parts) times.push_back(time(part));
  return TimeModel::per_item(std::move(times));
}

// What "replay:PATH" names; empty for a text of another form.
std::string recorded_in(const std::string& text) {
  constexpr std::string_view form = "replay:";
  if (!text.starts_with(form)) return "";
  const std::string path = text.substr(form.size());
  if (!std::filesystem::exists(path))
    throw InputError(path + ": is not there; a run directory or a trace is needed");
  return path;
}

// One "a b TIME" per line: the latency of the link from a to b.
std::map<std::pair<WorkerId, WorkerId>, Nanoseconds> read_link_latencies(const std::string& path) {
  std::ifstream file = open_file(path);
  if (!file)
    throw InputError(path + ": cannot be opened; latency file:PATH needs \"a b TIME\" lines");
  std::map<std::pair<WorkerId, WorkerId>, Nanoseconds> latencies;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string a, b, latency, more;
    if (!(words >> a)) continue;
    try {
      if (!(words >> b >> latency) || words >> more) throw InputError("expected \"a b TIME\"");
      latencies[{worker_id(parse_whole(a, most32)), worker_id(parse_whole(b, most32))}] =
          time(latency);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return latencies;
}

/// Recorded runs, each measured once.
class Recordings {
 public:
  explicit Recordings(std::size_t workers) : workers_(workers) {}

  const MeasuredTimes& of(const std::string& path) {
    const auto known = runs_.find(path);
    return known != runs_.end() ? known->second
                                : runs_.emplace(path, measure_run(path)).first->second;
  }
  /// One item per worker: worker i has that of recorded worker i modulo their number.
  template <typename Item>
  std::vector<Item> repeated(const std::vector<Item>& recorded) const {
    std::vector<Item> result;
    for (std::size_t i = 0; i < (workers_ > 0 ? workers_ : recorded.size()); ++i)
      result.push_back(recorded[i % recorded.size()]);
    return result;
  }

 private:
  const std::size_t workers_;
  std::map<std::string, MeasuredTimes> runs_;
};

}  // namespace

GivenTime parse_compute(const std::string& text) {
  const std::string replay = recorded_in(text);
  // In virtual time a gradient has no time of its own to which one could be added.
  const std::string model = text.starts_with('+') ? text.substr(1) : text;
  return {text, replay.empty() ? parse_time_model(model) : TimeModel::constant(0), {}, replay};
}

GivenTime parse_latency(const std::string& text) {
  constexpr std::string_view file = "file:";
  if (text.starts_with(file)) {
    GivenTime latency{text, VirtualWorld().latency};
    latency.of_link = read_link_latencies(text.substr(file.size()));
    return latency;
  }
  if (text.starts_with('+')) throw InputError("\"" + text + "\": +T is for the time of gradients");
  GivenTime latency = parse_compute(text);
  if (latency.model.items() > 0)
    throw InputError("\"" + text + "\": use file:PATH for one latency per link");
  return latency;
}

GivenTime parse_apply(const std::string& text) {
  const std::string replay = recorded_in(text);
  return {text, TimeModel::constant(replay.empty() ? time(text) : 0), {}, replay};
}

GivenStart parse_start(const std::string& text) {
  GivenStart start{text};
  start.replay = recorded_in(text);
  if (start.replay.empty() && !text.empty())
    for (const std::string& part : split(text, ',')) start.times.push_back(time(part));
  return start;
}

VirtualWorld make_world(const Config& config, std::size_t workers) {
  const WorldSettings& given = config.world;
  Recordings recordings(workers);
  VirtualWorld world;
  world.compute =
      given.compute.replay.empty()
          ? given.compute.model
          : TimeModel::replay(recordings.repeated(recordings.of(given.compute.replay).compute));
  world.latency = given.latency.replay.empty()
                      ? given.latency.model
                      : TimeModel::constant(recordings.of(given.latency.replay).latency);
  world.latency_of_link = given.latency.of_link;
  world.apply = given.apply.replay.empty() ? given.apply.model.smallest()
                                           : recordings.of(given.apply.replay).apply;
  world.start = given.start.replay.empty()
                    ? given.start.times
                    : recordings.repeated(recordings.of(given.start.replay).start);
  world.arrivals = given.arrivals.times;
  world.bandwidth = given.bandwidth;
  world.nic = given.nic;
  world.chaos = config.run.chaos;
  world.threads = static_cast<unsigned>(given.threads);
  return world;
}

elastic::Patience patience_of(const ElasticSettings& settings) {
  elastic::Patience patience;
  patience.gone = settings.gone_after.count();
  patience.suspect = std::min(patience.suspect, patience.gone / 3);
  patience.alone = settings.alone_after.count();
  return patience;
}

elastic::Merge merge_of(const ElasticSettings& settings) {
  if (settings.merge == "union") return elastic::Merge::union_of_both;
  return settings.merge == "yield" ? elastic::Merge::yield : elastic::Merge::average;
}

std::optional<elastic::Scenario> make_scenario(const Config& config, const VirtualWorld& world) {
  const ElasticSettings& given = config.elastic;
  if (!given.simulated && !given.membership_plan.any()) return std::nullopt;
  elastic::Scenario scenario{given.membership_plan, patience_of(given), merge_of(given)};
  validate(scenario, config.run, world);
  return scenario;
}

}  // namespace dasgd::config
