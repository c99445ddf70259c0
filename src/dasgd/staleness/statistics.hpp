// Definition 2 of the paper: maximum and average staleness.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

namespace dasgd {

/// |S| or |S_hat| over the applications of one worker. Own gradients count, with 0.
struct StalenessStatistics {
  std::uint64_t applications = 0;
  std::uint64_t sum = 0;
  std::uint64_t max = 0;
  double sum_of_squares = 0;

  void add(std::uint64_t staleness) {
    ++applications;
    sum += staleness;
    max = std::max(max, staleness);
    sum_of_squares += static_cast<double>(staleness) * static_cast<double>(staleness);
  }
  double mean() const { return applications == 0 ? 0 : static_cast<double>(sum) / count(); }
  double mean_square() const { return applications == 0 ? 0 : sum_of_squares / count(); }

 private:
  double count() const { return static_cast<double>(applications); }
};

/// The figures of a whole run.
struct StalenessSummary {
  double S_avg = 0;         ///< maximum over workers of that worker's own mean
  std::uint64_t S_max = 0;  ///< maximum over workers and applications
  double S_hat_avg = 0;     ///< the same for the loose staleness
  std::uint64_t S_hat_max = 0;
  bool S_hat_known = true;  ///< of all applications; if not, the two are of those that are
  std::uint64_t S_hat_untold = 0;  ///< applications that they are not of
  double S_mean_square = 0;  ///< maximum over workers of the mean of |S|^2
  /// Maximum over workers and gradients g of the sum of |S_t| with g in S_t; nothing if not
  /// measured.
  std::optional<std::uint64_t> W = 0;

  void add_worker(const StalenessStatistics& S, const StalenessStatistics& S_hat,
                  std::optional<std::uint64_t> worker_W) {
    S_avg = std::max(S_avg, S.mean());
    S_max = std::max(S_max, S.max);
    S_hat_avg = std::max(S_hat_avg, S_hat.mean());
    S_hat_max = std::max(S_hat_max, S_hat.max);
    S_hat_known = S_hat_known && S_hat.applications == S.applications;
    S_hat_untold += S.applications - S_hat.applications;
    S_mean_square = std::max(S_mean_square, S.mean_square());
    W = W && worker_W ? std::optional(std::max(*W, *worker_W)) : std::nullopt;
  }
};

}  // namespace dasgd
