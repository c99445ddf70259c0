// What a run leaves behind in numbers: summary.json.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/core/held_out.hpp"
#include "dasgd/core/look_ahead.hpp"
#include "dasgd/core/message_format.hpp"
#include "dasgd/record/assumption.hpp"
#include "dasgd/record/evaluation.hpp"
#include "dasgd/record/residuals.hpp"
#include "dasgd/record/step_limits.hpp"
#include "dasgd/record/stop_reason.hpp"
#include "dasgd/staleness/statistics.hpp"

namespace dasgd {

/// How the clocks of a run on several ranks were brought together.
struct RankClocks {
  std::vector<Nanoseconds> offsets;  ///< of each rank's clock to that of rank 0, at the start
  std::vector<Nanoseconds> drift;    ///< by how much that had changed at the end
  Nanoseconds tolerance = 0;         ///< times of two ranks may be wrong against each other by this
};

/// What one end has sent over a link, links that broke and were made again included.
struct LinkFigures {
  std::string to;
  std::string relation;         ///< in a tree: "parent" or "child"
  std::uint64_t messages = 0;   ///< of gradients
  std::uint64_t gradients = 0;  ///< in them
  std::uint64_t bytes = 0;      ///< of all frames
  double seconds = 0;           ///< from the first to the last of them
};

/// What a member of an elastic run knows of the others at its end.
struct MemberFigures {
  std::uint64_t members = 0;  ///< ever
  std::uint64_t at_end = 0, left = 0, lost = 0;
  std::map<std::string, std::uint64_t> lost_gradients;  ///< known ones, by their origin
  std::uint64_t abandoned = 0, joined_at_step = 0, too_late = 0;
  std::string name, origin, set_hash;
  std::vector<LinkFigures> links;  ///< to those who took part
};

/// What somebody's model came to at the end of a run.
struct ReplicaDigest {
  std::string who;     ///< "worker 3", or the name of a member
  std::string digest;  ///< of the exact sums
};
/// "b has X, a and c have Y"; empty where all are the same.
std::string difference(const std::vector<ReplicaDigest>& digests);

/// Where the last leg of a resumed run began.
struct ResumedFrom {
  std::size_t leg = 0;  ///< which leg it is, from 2
  std::uint64_t gradients = 0, samples = 0;
  double seconds = 0;
};

/// The end-of-run audit and the figures of a run, real or simulated.
struct RunSummary {
  std::size_t workers = 0;
  std::uint64_t gradients = 0;  ///< computed by all workers together, in all legs
  std::vector<std::uint32_t> gradients_by_worker;  ///< in the last leg
  std::uint64_t lost = 0;                          ///< pairs of worker and gradient that never met
  std::uint64_t duplicated = 0;      ///< applications of a gradient that had been applied before
  std::uint64_t copies_dropped = 0;  ///< copies that the relay recognised and threw away
  bool replicas_identical = false;   ///< as far as they were compared
  bool replicas_compared = true;     ///< of all who were there at the end, if it was drained
  std::vector<ReplicaDigest> digest_of_all;  ///< those that were compared
  std::string replica_digest;
  StalenessSummary staleness;
  std::uint64_t noncausal_applications = 0;
  std::uint64_t folded = 0;               ///< applications of a gradient as part of a bundle
  std::vector<std::uint64_t> iterations;  ///< per worker: at the target where one was given
  std::vector<Nanoseconds> time;          ///< per worker: when that was
  /// Per worker: a sample was there, nothing waited to be applied, and it did not compute.
  std::vector<double> waited_seconds;
  std::vector<std::uint64_t> messages_sent, bytes_sent;  ///< per worker
  std::vector<double> speeds;  ///< per worker, against the usual one; empty where all are equal
  std::string sampling;        ///< "own", "shards", or "source": what somebody gives
  StopReason stop_reason = StopReason::budget;
  std::uint64_t samples = 0;
  double samples_per_second = 0;
  double loss = 0;                   ///< of the final model, over the whole training part
  std::optional<double> batch_loss;  ///< mean of the workers' last 30 mini-batch losses
  std::optional<double> accuracy;    ///< of the evaluated part, like the next
  std::optional<double> eval_loss;
  std::string evaluated_part = "train";  ///< "validation" where there is one
  std::vector<PartFigures> parts;        ///< that were held out, or the training part
  std::size_t train_samples = 0;
  /// Whether the final model meets the target of evaluations that ended the run.
  std::optional<bool> target_met;
  std::optional<Evaluation> best;   ///< where models were evaluated during the run
  bool model_is_last_good = false;  ///< the run diverged: an earlier, better model was kept
  std::vector<double> lambda;       ///< per worker, as it was last; 0: no look-ahead
  std::optional<LookAheadFigures> look_ahead;  ///< of all workers that looked ahead
  MessageFormat message = MessageFormat::full;
  std::string relay, links_why;        ///< over which links; and why, where the run chose
  std::vector<double> residual_norms;  ///< per worker, where messages are not full
  bool fixed_step = true;              ///< plain SGD with one step size: what the theory is about
  std::uint64_t halvings = 0;          ///< of step sizes, by workers whose loss ran away
  std::optional<StepLimits> step;      ///< where the smoothness of the objective is known
  std::vector<CheckedAssumption> assumptions;  ///< of a step size that was proved
  std::optional<ArrivalFigures> arrivals;      ///< where samples came while the run went
  std::optional<Residuals> residuals;          ///< where they were asked for and could be measured
  std::string residuals_why;                   ///< why not, where they were asked for
  double wall_seconds = 0;
  std::optional<double> virtual_seconds;  ///< of a simulation: when its last event happened
  std::uint64_t seed = 0;
  std::optional<ResumedFrom> resumed;
  std::optional<RankClocks> clocks;  ///< of a run on several ranks
  std::optional<MemberFigures> elastic;

  bool audit_is_clean() const {
    return duplicated == 0 && (!replicas_compared || (lost == 0 && replicas_identical));
  }
};

/// The line at the end of a trace that states the tolerance, with its newline.
std::string to_trace_line(const RankClocks& clocks);

/// The object of summary.json, indented.
std::string to_json(const RunSummary& summary);

/// The version of this library.
const char* version();

}  // namespace dasgd
