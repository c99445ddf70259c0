// The figures of a run at one moment: what metrics.jsonl keeps and the live view shows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/core/look_ahead.hpp"

namespace dasgd {

struct RunFigures {
  double seconds = 0;              ///< since the start; virtual in a simulation
  std::uint64_t gradients = 0;     ///< computed so far by all workers
  std::uint64_t applications = 0;  ///< iterations so far of all workers
  std::uint64_t samples = 0;
  double gradients_per_second = 0;  ///< since the last report
  std::optional<double> loss;       ///< mean of the workers' last 30 mini-batch losses
  double S_now = 0;                 ///< mean |S| since the last report
  double S_avg = 0;                 ///< so far, as in Definition 2
  std::uint64_t S_max = 0;
  std::optional<LookAheadFigures> look_ahead;  ///< so far, where it is on
  std::optional<double> certified_eta;         ///< for the staleness so far, where L is known
  std::size_t inbox_depth = 0;                 ///< the fullest inbox
  std::uint64_t folded = 0;                    ///< applications as part of a bundle so far
  double waited_seconds = 0;                   ///< of all workers; see RunSummary::waited_seconds
  std::optional<double> accuracy, eval_loss;   ///< of an evaluation since the last report
  std::optional<std::uint64_t> arrived;        ///< samples so far, where they arrive
  std::optional<double> prequential;           ///< see `ArrivalFigures`
  std::optional<double> train_loss;            ///< at the end: over the whole training part
  std::map<std::string, double> own;           ///< what a caller's loop has logged, by name
  /// Per worker; metrics.jsonl has them for runs of up to `most_workers_in_metrics`.
  std::vector<std::uint32_t> gradients_by_worker;
  std::vector<std::uint32_t> inbox_by_worker;
  std::vector<double> waited_by_worker;  ///< seconds

  /// Takes those of one more worker in.
  void add(const std::optional<LookAheadFigures>& of_worker) {
    if (!of_worker) return;
    if (!look_ahead) look_ahead.emplace();
    look_ahead->add(*of_worker);
  }
};

inline constexpr std::size_t most_workers_in_metrics = 1024;

/// The line of metrics.jsonl, with its newline.
std::string metrics_line(const RunFigures& figures);

/// Figures of a run whose length nobody knows, taken every so many applications. When there are
/// `most` of them, every second one is dropped and the distance doubles.
class FigureLog {
 public:
  explicit FigureLog(std::size_t most = 1024) : most_(most) {}

  /// Whether figures are wanted after that many applications of all workers.
  bool wants(std::uint64_t applications) const { return applications >= next_; }
  /// Adds figures; `sum_S` is the sum of |S| so far, from which S_now follows.
  void add(RunFigures figures, double sum_S);
  /// All of them, with the rates since the one before filled in.
  std::vector<RunFigures> rows() const;

 private:
  struct Row {
    RunFigures figures;
    double sum_S;
  };
  const std::size_t most_;
  std::vector<Row> rows_;
  std::uint64_t distance_ = 0, next_ = 0;
};

}  // namespace dasgd
