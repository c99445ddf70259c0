// The MPI job that this process is a rank of. Built without MPI, it says so.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/config/config.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/run/result.hpp"
#include "dasgd/runtime/progress.hpp"

namespace dasgd::app {

using config::Config;

class Ranks {
 public:
  /// Whether this dasgd was built with MPI.
  static bool are_built_in();
  /// "MPI: Open MPI v4.1.4 ...", or that there is none.
  static std::string library();

  /// Built without MPI: becomes the program that has it, which a package of its own installs; comes
  /// back where there is none.
  static void hand_over(char** arguments);

  /// Starts MPI. Throws InputError when this dasgd was built without it.
  Ranks();
  /// Ends MPI, with all ranks.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  std::size_t rank() const;
  std::size_t size() const;
  /// Collective: how many ranks run on this machine.
  std::size_t ranks_on_host();

  /// Collective: a mistake on any rank is a mistake of the run. True if there was none and all give
  /// the same `state`. Otherwise rank 0 throws InputError and the others get false.
  bool agree(const std::string& mistake, const std::string& state);

  /// Collective: whether any rank says yes.
  bool any(bool mine);

  /// Collective: what rank 0 gave, on every rank.
  std::string broadcast(std::string text);

  /// One line for a person, then all ranks end at once: this one cannot go on.
  [[noreturn]] void end_job(const std::string& why);

  /// Collective: trains; the result is on rank 0.
  template <typename Real>
  std::optional<TrainResult<Real>> train(const Objective<Real>& objective,
                                         const TrainOptions& options, const Config& config,
                                         const std::vector<Callback<Real>>& callbacks = {});

  /// Collective: trains on the first ranks, one worker each; the others go on at once.
  template <typename Real>
  std::optional<TrainResult<Real>> train_on_first(std::size_t ranks,
                                                  const Objective<Real>& objective,
                                                  const TrainOptions& options,
                                                  const Config& config);

  /// Collective: runs a rival; see dasgd/lab/ranks/perform_ranks.hpp.
  template <typename Real>
  PlayResult perform(const Objective<Real>& objective, const ChosenRival& rival,
                     const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how,
                     const Observer<Real>* observer);

 private:
  struct Job;
  std::unique_ptr<Job> job_;
};

}  // namespace dasgd::app
