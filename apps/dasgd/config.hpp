// What a run was asked to do, from the config file and the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/data/row_text.hpp"
#include "dasgd/plan/options.hpp"
#include "rank_settings.hpp"
#include "world.hpp"

namespace dasgd::app {

struct Config {
  std::string model = "softmax";
  std::string data;                              ///< a name or path; empty: the model's own
  std::optional<RowFormat> format;               ///< of a stream, like the next two
  std::optional<std::size_t> features, classes;  ///< nothing: the first rows tell
  std::string loss, device, augment;             ///< of networks; empty: cross-entropy, cpu, none
  std::optional<std::size_t> workers;
  std::string topology = "full";
  std::optional<RelayMode> relay;
  std::optional<double> lr;
  /// Whence the step size comes: given, a step that trains well, or the largest that is proved.
  enum class StepChoice { given, automatic, proved };
  StepChoice step_choice = StepChoice::given;
  OnDivergence on_divergence = OnDivergence::stop;
  std::optional<double> L;  ///< smoothness, where the problem does not know its own
  bool measure_gradients = false;
  std::optional<std::size_t> batch;
  Sampling sampling = Sampling::own;
  std::vector<std::uint32_t> gradients;
  std::optional<std::size_t> total_gradients;
  std::optional<double> epochs;
  std::optional<std::chrono::nanoseconds> max_time;
  std::optional<double> target_error, target_loss;
  std::vector<SlowWorker> slow;
  std::chrono::nanoseconds compute{0};
  std::optional<std::size_t> in_flight;
  RankSettings ranks;  ///< of train only
  std::uint64_t seed = 1;
  RuleOptions rule;
  std::optional<std::chrono::nanoseconds> eval_every;  ///< nothing: often enough, and cheaply
  double eval_share = 1;                               ///< of one core's time, at most
  std::optional<std::size_t> patience;
  std::optional<double> target_accuracy;
  std::chrono::nanoseconds checkpoint_every = std::chrono::seconds(60);  ///< 0: none at all
  std::string resume;  ///< the run directory to go on with
  std::string out;
  bool trace = false, quiet = false, json = false, no_report = false;
  std::optional<unsigned short> watch_port;  ///< of train only, like the next two
  std::string watch_address = "127.0.0.1", watch_token;
  WorldText world;   ///< its chaos is of both commands, the rest of simulate only
  std::string from;  ///< of simulate only: the run directory whose times are replayed
};

/// Throws InputError, with a suggestion, unless a model of that name trains here.
void require_known_model(const std::string& name);

/// How often a real run evaluates where nothing was said.
void set_default_evaluation(Config& config);

/// Fills in everything that was left open: the model's data, step size, batch and budget, the
/// number of workers, the relay. Throws InputError for what cannot be.
void resolve(Config& config);

/// The options of a resolved config.
TrainOptions train_options(const Config& config);

}  // namespace dasgd::app
