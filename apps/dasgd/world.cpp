#include "world.hpp"

#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "dasgd/core/error.hpp"
#include "recorded_run.hpp"
#include "units.hpp"

namespace dasgd::app {
namespace {

constexpr std::uint64_t most32 = std::numeric_limits<std::uint32_t>::max() - 1;

Nanoseconds time(const std::string& text) { return parse_duration(text).count(); }

std::vector<std::string> parts_of(const std::string& text, std::size_t count, const char* form) {
  auto parts = split(text, ':');
  if (parts.size() != count) throw InputError("\"" + text + "\" is not of the form " + form);
  return parts;
}

double share(const std::string& text) {
  const double value = text.empty() ? 0 : parse_real(text);
  if (!(value >= 0 && value < 1))
    throw InputError("\"" + text + "\" is not a share from 0 to below 1");
  return value;
}

std::vector<WorkerId> workers_of_side(const std::string& text) {
  std::vector<WorkerId> side;
  for (const std::string& part : split(text, ','))
    side.push_back(worker_id(parse_whole(part, most32)));
  return side;
}

Chaos::Partition parse_partition(const std::string& text) {
  const auto parts = parts_of(text, 3, "A|B:AT:FOR, like 0,1|2,3:1s:500ms");
  const auto sides = split(parts[0], '|');
  if (sides.size() != 2)
    throw InputError("\"" + parts[0] + "\" does not have two sides, like 0,1|2,3");
  return {workers_of_side(sides[0]), workers_of_side(sides[1]), time(parts[1]), time(parts[2])};
}

// One "a b TIME" per line: the latency of the link from a to b.
void read_link_latencies(const std::string& path, VirtualWorld& world) {
  std::ifstream file(path);
  if (!file)
    throw InputError(path + ": cannot be opened; latency file:PATH needs \"a b TIME\" lines");
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string a, b, latency, more;
    if (!(words >> a)) continue;
    try {
      if (!(words >> b >> latency) || words >> more) throw InputError("expected \"a b TIME\"");
      world
          .latency_of_link[{worker_id(parse_whole(a, most32)), worker_id(parse_whole(b, most32))}] =
          time(latency);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
}

/// The runs that "replay:PATH" names, each measured once.
class Recordings {
 public:
  explicit Recordings(std::size_t workers) : workers_(workers) {}

  /// Null for a text of another form.
  const MeasuredTimes* find(const std::string& text) {
    constexpr std::string_view form = "replay:";
    if (!text.starts_with(form)) return nullptr;
    const std::string path = text.substr(form.size());
    const auto known = runs_.find(path);
    return known != runs_.end() ? &known->second
                                : &runs_.emplace(path, measure_run(path)).first->second;
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

TimeModel parse_time_model(const std::string& text) {
  if (text.starts_with("uniform:")) {
    const auto parts = parts_of(text, 3, "uniform:A:B");
    if (time(parts[1]) > time(parts[2])) throw InputError("\"" + text + "\": A must not exceed B");
    return TimeModel::uniform(time(parts[1]), time(parts[2]));
  }
  if (text.starts_with("lognormal:")) {
    const auto parts = parts_of(text, 3, "lognormal:MEDIAN:SIGMA");
    const double sigma = parse_real(parts[2]);
    if (sigma < 0) throw InputError("\"" + text + "\": SIGMA must not be negative");
    return TimeModel::lognormal(time(parts[1]), sigma);
  }
  if (text.starts_with("exponential:"))
    return TimeModel::exponential(time(parts_of(text, 2, "exponential:MEAN")[1]));
  const auto parts = split(text, ',');
  if (parts.size() == 1) return TimeModel::constant(time(text));
  std::vector<Nanoseconds> times;
  for (const std::string& part : parts) times.push_back(time(part));
  return TimeModel::per_item(std::move(times));
}

Chaos make_chaos(const WorldText& text) {
  Chaos chaos;
  if (!text.delay.empty()) {
    const auto parts = parts_of(text.delay, 2, "SHARE:UP_TO, like 0.1:5ms");
    chaos.delay = share(parts[0]);
    chaos.delay_up_to = time(parts[1]);
  }
  chaos.reorder = share(text.reorder);
  chaos.duplicate = share(text.duplicate);
  chaos.drop = share(text.drop);
  for (const std::string& pause : text.pauses) {
    const auto parts = parts_of(pause, 3, "WORKER:AT:FOR, like 1:1s:500ms");
    chaos.pauses.push_back(
        {worker_id(parse_whole(parts[0], most32)), time(parts[1]), time(parts[2])});
  }
  for (const std::string& partition : text.partitions)
    chaos.partitions.push_back(parse_partition(partition));
  return chaos;
}

VirtualWorld make_world(const WorldText& text, std::size_t workers) {
  VirtualWorld world;
  Recordings recordings(workers);
  if (const auto* run = recordings.find(text.compute)) {
    world.compute = TimeModel::replay(recordings.repeated(run->compute));
  } else {
    world.compute = parse_time_model(text.compute);
  }
  if (const auto* run = recordings.find(text.latency)) {
    world.latency = TimeModel::constant(run->latency);
  } else if (text.latency.starts_with("file:")) {
    read_link_latencies(text.latency.substr(5), world);
  } else {
    world.latency = parse_time_model(text.latency);
    if (world.latency.items() > 0)
      throw InputError("\"" + text.latency + "\": use file:PATH for one latency per link");
  }
  if (const auto* run = recordings.find(text.apply)) {
    world.apply = run->apply;
  } else {
    world.apply = time(text.apply);
  }
  if (const auto* run = recordings.find(text.start)) {
    world.start = recordings.repeated(run->start);
  } else if (!text.start.empty())
    for (const std::string& part : split(text.start, ',')) world.start.push_back(time(part));
  if (!text.bandwidth.empty()) {
    world.bandwidth = parse_real(text.bandwidth);
    if (!(*world.bandwidth > 0))
      throw InputError("\"" + text.bandwidth + "\" is not a positive number");
  }
  world.chaos = make_chaos(text);
  world.threads = static_cast<unsigned>(text.threads);
  return world;
}

}  // namespace dasgd::app
