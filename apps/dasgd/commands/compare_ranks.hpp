// The real runs of a comparison on MPI ranks: rank 0 says what is next, all take part.
#pragma once

#include "dasgd/config/config.hpp"
#include "dasgd/lab/referee/contest/run_one.hpp"
#include "ranks/ranks.hpp"

namespace dasgd::app {

/// All must outlive this.
template <typename Real>
class RankTurns {
 public:
  RankTurns(Ranks& ranks, const Config& config, const Objective<Real>& objective,
            const Contest& contest)
      : ranks_(ranks), config_(config), objective_(objective), contest_(contest) {}
  /// On rank 0: the others may go.
  ~RankTurns();
  RankTurns(const RankTurns&) = delete;
  RankTurns& operator=(const RankTurns&) = delete;

  /// On rank 0: one run, by all.
  PlayResult lead(const ChosenRival& rival, const ContestWorld& world, const TrainOptions& options,
                  const Observer<Real>& observer);
  /// On the others: takes part until rank 0 ends it.
  void follow();

 private:
  PlayResult take_part(const ChosenRival& rival, const ContestWorld& world,
                       const TrainOptions& options, const Observer<Real>* observer);

  Ranks& ranks_;
  const Config& config_;
  const Objective<Real>& objective_;
  const Contest& contest_;
};

extern template class RankTurns<float>;
extern template class RankTurns<double>;

}  // namespace dasgd::app
