// LIBSVM text in the manner of sets that people know: every row answers a few questions, every
// possible answer is a feature. Made here, the same everywhere.
#pragma once

#include <cstddef>
#include <random>
#include <string>

namespace dasgd::test {

struct Questionnaire {
  std::string text;
  std::size_t rows = 0, dimension = 0, features = 0, positive = 0, empty = 0;
};

/// A linear model classifies about 19 of 20 rows correctly. With `skipped_one_in` so many rows have
/// a label and no features.
inline Questionnaire questionnaire(std::size_t rows, const std::string& negative = "-1",
                                   const std::string& positive = "+1",
                                   std::size_t skipped_one_in = 0) {
  constexpr std::size_t questions = 14;
  const auto answers_of = [](std::size_t question) { return 2 + question % 9; };
  std::mt19937 chance(7);  // its numbers are fixed by the standard, distributions are not
  Questionnaire made{.rows = rows};
  for (std::size_t row = 0; row < rows; ++row) {
    const bool skipped = skipped_one_in > 0 && row % skipped_one_in == 1;
    double score = 0;
    std::string answers;
    std::size_t feature = 1;
    for (std::size_t question = 0; question < questions; ++question) {
      const std::size_t answer = chance() % answers_of(question);
      score += static_cast<double>((feature + answer) * 7919 % 2001) / 1000 - 1;
      answers += " " + std::to_string(feature + answer) + ":1";
      feature += answers_of(question);
    }
    made.dimension = feature - 1;
    const bool is_positive = (score > 0) != (chance() % 20 == 0);
    made.positive += is_positive ? 1 : 0;
    made.empty += skipped ? 1 : 0;
    made.features += skipped ? 0 : questions;
    made.text += (is_positive ? positive : negative) + (skipped ? "" : answers) + "\n";
  }
  return made;
}

}  // namespace dasgd::test
