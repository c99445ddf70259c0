#include "dasgd/lab/referee/contest/worlds.hpp"

#include <algorithm>
#include <cmath>

#include "dasgd/base/checked_time.hpp"
#include "dasgd/base/input_error.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

/// How long a gradient usually takes: what names of worlds are in proportion to.
Nanoseconds usual_compute(const ContestWorld& world) {
  return std::max<Nanoseconds>(world.world.compute.usual(), 1);
}

TimeModel per_worker(std::size_t workers, Nanoseconds usual,
                     const std::function<double(std::size_t)>& factor) {
  std::vector<Nanoseconds> times;
  for (std::size_t i = 0; i < workers; ++i)
    times.push_back(duration(static_cast<double>(usual) * factor(i), "compute"));
  return TimeModel::per_item(std::move(times));
}

double number_of(const std::string& name, const std::string& text, double least) {
  double value = 0;
  try {
    value = parse_real(text);
  } catch (const InputError& error) {
    throw InputError("world " + name + ": " + error.what());
  }
  if (value < least) throw InputError("world " + name + ": must be at least " + show_real(least));
  return value;
}

// Compute times 10, or 1 and 10 by turns; latencies almost nothing, 100, or from 1 to 100.
void make_birch(int number, ContestWorld& world) {
  const Nanoseconds unit = std::max<Nanoseconds>(1, usual_compute(world) / 10);
  const std::size_t n = world.options.workers;
  const bool uneven = number == 3 || number == 4;
  if (uneven)
    world.world.compute =
        per_worker(n, unit, [](std::size_t i) { return i % 2 == 0 ? 1.0 : 10.0; });
  else
    world.world.compute = TimeModel::constant(10 * unit);
  if (number == 2) world.world.latency = TimeModel::constant(100 * unit);
  if (number == 4) world.world.latency = TimeModel::uniform(unit, 100 * unit);
}

}  // namespace

const std::vector<WorldForm>& world_forms() {
  static const std::vector<WorldForm> forms{
      {"equal", "as the options say"},
      {"straggler:X", "the last worker is X times slower"},
      {"lognormal:SIGMA", "random time for each gradient, median as usual"},
      {"exponential", "the same, mean as usual"},
      {"sqrt", "worker i takes sqrt(i + 1) times as long, i from 0"},
      {"slow-links", "a ring whose links take as long as a gradient"},
      {"latency:X", "every link takes X times as long as a gradient"},
      {"thin-nic", "a network card takes as long for a model as a worker for a gradient"},
      {"birch:1..4", "compute and latency 10, 0; 10, 100; 1 or 10, 0; 1 or 10, 1 to 100"},
  };
  return forms;
}

namespace {

// What one name does to a world.
void change(ContestWorld& world, const std::string& name, const ContestWorld& usual,
            std::size_t model_bytes) {
  const auto parts = split(name, ':');
  const std::string kind = parts.front();
  const Nanoseconds compute = usual_compute(usual);
  const auto plain = [&] {
    if (parts.size() > 1) throw InputError("world " + name + ": " + kind + " takes no number");
  };
  const auto argument = [&](double least) {
    if (parts.size() != 2)
      throw InputError("world " + name + ": write it like " + kind +
                       (kind == "lognormal" ? ":0.5"
                        : kind == "birch"   ? ":1"
                                            : ":10"));
    return number_of(name, parts[1], least);
  };
  if (kind == "equal") {
    plain();
  } else if (kind == "straggler") {
    world.options.slow.push_back({worker_id(world.options.workers - 1), argument(1)});
  } else if (kind == "lognormal") {
    world.world.compute = TimeModel::lognormal(compute, argument(0));
  } else if (kind == "exponential") {
    plain();
    world.world.compute = TimeModel::exponential(compute);
  } else if (kind == "sqrt") {
    plain();
    world.world.compute = per_worker(world.options.workers, compute, [](std::size_t i) {
      return std::sqrt(static_cast<double>(i + 1));
    });
  } else if (kind == "slow-links") {
    plain();
    world.options.topology = "ring";
    world.options.graph.reset();
    world.options.relay.reset();
    world.world.latency = TimeModel::constant(compute);
  } else if (kind == "latency") {
    world.world.latency =
        TimeModel::constant(duration(static_cast<double>(compute) * argument(0), "latency"));
  } else if (kind == "thin-nic") {
    plain();
    world.world.nic = static_cast<double>(model_bytes) / (static_cast<double>(compute) * 1e-9);
  } else if (kind == "birch") {
    const double number = argument(1);
    if (number > 4 || number != std::floor(number))
      throw InputError("world " + name + ": there are birch:1, 2, 3 and 4");
    make_birch(static_cast<int>(number), world);
  } else {
    std::vector<std::string> names;
    for (const WorldForm& form : world_forms()) names.push_back(split(form.form, ':').front());
    throw InputError("unknown world \"" + kind + "\"" + suggestion(kind, names));
  }
}

}  // namespace

ContestWorld named_world(const std::string& name, const ContestWorld& usual,
                         std::size_t model_bytes) {
  ContestWorld world = usual;
  world.name = name;
  for (const std::string& part : split(name, '+')) change(world, part, usual, model_bytes);
  validate(world.options);
  return world;
}

}  // namespace dasgd
