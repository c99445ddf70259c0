// A step size for a run, with the reasons for it: constants measured, staleness measured or
// predicted, every limit of the theory with its status.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/advice/constants.hpp"
#include "dasgd/advice/pilot.hpp"
#include "dasgd/advice/practical.hpp"
#include "dasgd/core/objective.hpp"
#include "dasgd/run/options.hpp"
#include "dasgd/virtual_time/world.hpp"

namespace dasgd {

/// A number that a statement rests on: it holds if the true one is at most `value`.
struct AtMost {
  std::string name;  ///< "sigma2", "Q", "r0", "L", "W", "S_max", ...
  double value = 0;
};

/// One step-size limit. `status` is "proved", "proved if L is as estimated", "proved only without
/// noise", "proved only for causal delivery", "proved for independent draws", "proved only for a
/// fixed set of workers", "proved only for plain SGD", "published but false in general" or
/// "heuristic"; a proof holds under `grounds`, which say in words what `assumes` lists.
struct StepSizeLimit {
  std::string name;
  double eta = 0;
  std::string status, grounds;
  std::vector<AtMost> assumes;
};

/// What a bound promises: after this many iterations the mean of |grad f|^2 is at most `accuracy`.
struct Promise {
  std::string name;
  double eta = 0, iterations = 0, seconds = 0;
  std::string grounds;
  std::vector<AtMost> assumes;
};

struct Advice {
  std::size_t workers = 1;
  ProblemConstants constants;
  PilotStaleness staleness;
  std::optional<double> horizon;  ///< gradients of all workers, where a budget says how many
  bool plain = true;              ///< plain SGD with a fixed step; the proofs know no other rule
  bool independent = true;        ///< draws; with noise the proofs know no others
  bool one_distribution = true;   ///< all workers draw from it (Assumption 2)
  bool elastic = false;           ///< workers come and go, of which the proofs know nothing
  std::vector<StepSizeLimit> limits;
  double recommended_eta = 0;  ///< that of a certificate, with a margin for staleness
  /// "proved", "proved if L is as estimated" where it has no closed form, "proved for independent
  /// draws" where the run draws otherwise, "proved only for a fixed set of workers" where it is
  /// elastic, or "heuristic".
  std::string recommended_status;
  std::string grounds;  ///< one line: the reasons for the recommendation
  std::vector<AtMost> assumes;
  PracticalStep practical;  ///< a step that trains well; not proved
  double accuracy = 0;
  std::vector<Promise> promises;
};

struct AdviceRequest {
  TrainOptions options;  ///< those of the run to come; eta is not used
  /// If the workers are not on this machine: the simulated world of the trials, for which staleness
  /// is predicted instead of running a pilot.
  std::optional<VirtualWorld> world;
  bool compute_is_given = true;  ///< whether `world` says how long a gradient takes; else as here
  std::optional<PilotStaleness> staleness;  ///< measured in an earlier run, instead of a pilot
  bool elastic = false;                     ///< whether workers may come and go
  std::optional<double> least_loss;         ///< inf f, if known
  std::optional<double> accuracy;  ///< default: 1 % of the squared gradient norm at the start
  /// The practical step is for the schedule of the options, and brings none of its own.
  bool keep_schedule = false;
  std::function<void(const std::string&)> report = {};  ///< what is being done, a line at a time
  bool try_steps = true;  ///< whether to look for a practical step, which takes seconds more
  Clock clock = clock_from_now();
};

/// Takes up to four seconds; with trials 10, or a tenth of the run, whichever is longer. What would
/// take longer is measured on fewer samples, or predicted. A gradient that is being computed is
/// finished: where one takes seconds, so does that. If `options.stop` is requested, the result is
/// meaningless and must not be used.
template <typename Real>
Advice advise(const Objective<Real>& objective, const AdviceRequest& request);

/// The limits and the recommendation alone, from constants and staleness.
void recommend(Advice& advice);

}  // namespace dasgd
