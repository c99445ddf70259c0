// How good a model is on a part of the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dasgd {

/// What evaluation while a run goes finds.
struct HeldOut {
  std::optional<double> accuracy, loss;
};

/// Samples that arrive while a run goes.
struct ArrivalFigures {
  std::uint64_t arrived = 0;  ///< of which the run has learned `samples`
  std::size_t kept = 0;       ///< of these, what the loss and the accuracy are about; 0: all
  /// The share of the last samples that were answered rightly before they were learned from.
  std::optional<double> prequential = {};
};

/// Right and wrong answers, class by class.
class ClassCounts {
 public:
  /// Beyond so many classes there is no table of who was taken for whom.
  static constexpr std::size_t most_in_table = 200;

  ClassCounts() = default;
  explicit ClassCounts(std::size_t classes)
      : samples_(classes), answers_(classes), right_(classes) {
    if (classes <= most_in_table) table_.resize(classes * classes);
  }

  void add(std::size_t label, std::size_t answer) {
    ++samples_[label];
    ++answers_[answer];
    if (label == answer) ++right_[label];
    if (!table_.empty()) ++table_[label * classes() + answer];
  }
  void add(const ClassCounts& other) {
    const auto sum = [](auto& to, const auto& from) {
      for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
    };
    sum(samples_, other.samples_);
    sum(answers_, other.answers_);
    sum(right_, other.right_);
    sum(table_, other.table_);
  }

  std::size_t classes() const { return samples_.size(); }
  std::uint64_t samples(std::size_t label) const { return samples_[label]; }
  std::uint64_t answers(std::size_t label) const { return answers_[label]; }
  std::uint64_t right(std::size_t label) const { return right_[label]; }
  bool has_table() const { return !table_.empty(); }
  /// How many samples of the class `label` were taken for `answer`.
  std::uint64_t taken_for(std::size_t label, std::size_t answer) const {
    return table_[label * classes() + answer];
  }
  /// Right answers in all.
  std::uint64_t right() const {
    return std::accumulate(right_.begin(), right_.end(), std::uint64_t{0});
  }
  /// The share of right answers; nothing before the first.
  std::optional<double> accuracy() const {
    const std::uint64_t all = std::accumulate(samples_.begin(), samples_.end(), std::uint64_t{0});
    if (all == 0) return std::nullopt;
    return static_cast<double>(right()) / static_cast<double>(all);
  }

 private:
  std::vector<std::uint64_t> samples_, answers_, right_, table_;
};

/// A whole part of the data, looked at when the run has ended.
struct PartFigures {
  std::string part;  ///< "train", "validation" or "test"
  std::string from;  ///< where its samples come from, in words
  std::size_t samples = 0;
  double loss = 0;                   ///< the mean of what is minimised
  std::optional<double> mse;         ///< where targets are numbers, in the units of the data
  std::optional<double> r2;          ///< 1 - mse / variance, where these numbers differ
  ClassCounts counts;                ///< where they are classes
  std::vector<std::string> classes;  ///< their names

  HeldOut held_out() const { return {counts.accuracy(), loss}; }
};

}  // namespace dasgd
