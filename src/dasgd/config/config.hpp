// What a run was asked to do, whoever asked: a config file, a command line, another program.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "dasgd/config/compare.hpp"
#include "dasgd/config/engine.hpp"
#include "dasgd/config/world.hpp"
#include "dasgd/elastic/world/membership_plan.hpp"
#include "dasgd/models/problem.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/speeds.hpp"

namespace dasgd::config {

/// How a run is shown in a browser.
struct WatchSettings {
  std::optional<unsigned short> port;  ///< nothing: it is not
  std::string address = "127.0.0.1", token;
  std::string token_file;  ///< where the token stands, if it is not given
};

/// A run whose members come and go: this process begins it, or joins it.
struct ElasticSettings {
  std::string listen;     ///< an address; empty and not joining: the run is not elastic
  std::string advertise;  ///< where others dial this member; empty: where it listens
  std::string token_file, name;
  std::string certificate, key, authority;  ///< of an own PKI instead of a token
  bool plaintext = false;                   ///< on this machine only
  std::string merge = "average";            ///< see elastic::Merge
  std::chrono::nanoseconds gone_after{std::chrono::seconds(10)};
  std::chrono::nanoseconds alone_after{std::chrono::seconds(30)};

  /// How many members the step size is found for; nothing: this one alone.
  std::optional<std::size_t> expected;
  bool simulated = false;                   ///< a simulation is one although nobody comes or goes
  elastic::MembershipPlan membership_plan;  ///< of a simulation
};

struct OutputSettings {
  std::string out;     ///< the run directory; empty: a new one under runs/
  std::string resume;  ///< the run directory to go on with
  bool trace = false, no_report = false, quiet = false, json = false;
};

/// Whence the step size comes: given, a step that trains well, or one that is proved.
enum class StepChoice { given, automatic, proved };

struct Config {
  ProblemChoice problem;
  /// The options of the engine. Complete once the config is resolved: until then the three members
  /// below say what was asked for.
  TrainOptions run = {.evaluation = {.every = {}, .share = default_share},
                      .checkpoint = {.every = std::chrono::seconds(60), .save = {}}};
  std::optional<std::size_t> workers;  ///< nothing: as many as ranks or the topology have, or 2
  StepChoice step = StepChoice::given;
  std::optional<double> lr;     ///< nothing: the model's own, or to be found
  bool schedule_given = false;  ///< a step that is found brings none of its own then
  bool sampling_given = false;  ///< a proved step brings independent draws otherwise

  std::optional<Speeds> speeds;  ///< of workers; nothing: all are equal

  WorldSettings world;  ///< of simulations
  CompareSettings compare;
  RankSettings ranks;  ///< of real runs, like the next
  WatchSettings watch;
  ElasticSettings elastic;
  OutputSettings output;
  std::string from;  ///< of simulations: the run directory whose times are replayed

  /// Of a core's time for evaluation, where nobody said how often.
  static constexpr double default_share = 0.1;
  bool evaluation_was_given() const { return run.evaluation.share == 1; }
};

/// How often a real run evaluates where nothing was said.
void set_default_evaluation(Config& config);

/// How often a comparison looks where nothing was said: every second gradient of usual length, and
/// ten times within one where models are small.
void set_default_grid(Config& config);

/// Fills in everything that was left open: the model's data, step size, batch and budget, the
/// number of workers, the relay. Throws InputError for what cannot be.
void resolve(Config& config);

}  // namespace dasgd::config
