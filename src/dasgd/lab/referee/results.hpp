// A comparison as people and programs read it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/core/objective.hpp"
#include "dasgd/lab/referee/contest/contest.hpp"
#include "dasgd/lab/referee/verdict.hpp"

namespace dasgd {

/// The rows of one world with what can be said of them.
struct JudgedWorld {
  std::string name;
  std::vector<ContestRow> rows;
  std::vector<Judgement> judgements;
  WorldVerdict verdict;
  std::optional<double> lower_bound_s = {};  ///< see lower_bound.hpp
};
template <typename Real>
std::vector<JudgedWorld> judge_worlds(const Objective<Real>& objective, const Contest& contest,
                                      const std::vector<ContestRow>& rows);

/// compare.json.
nlohmann::ordered_json results_json(const Contest& contest, const std::vector<JudgedWorld>& worlds);
/// The table, the winners and the sentences for a terminal.
std::string results_text(const Contest& contest, const std::vector<JudgedWorld>& worlds);

/// The rival of a row, its kind, and how tuning left it.
const ChosenRival& rival_of(const ContestRow& row, const Contest& contest);
inline const RivalKind& kind_of(const ContestRow& row, const Contest& contest) {
  return rival_of(row, contest).kind;
}
inline std::string label_of(const ContestRow& row, const Contest& contest) {
  return rival_of(row, contest).label_with(row.numbers);
}

/// What `dasgd compare --list` prints.
std::string list_of_rivals(const std::vector<RivalKind>& kinds);

}  // namespace dasgd
