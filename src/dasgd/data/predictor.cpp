#include "dasgd/data/predictor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dasgd {
namespace {

void normalise(std::vector<double>& values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& v : values) v = sum > 0 ? v / sum : 1.0 / static_cast<double>(values.size());
}

}  // namespace

Answer read_answer(std::span<const float> outputs, Answers answers) {
  Answer answer;
  if (answers == Answers::number) {
    answer.number = outputs[0];
    return answer;
  }
  if (answers == Answers::margin) {
    const double second = 1 / (1 + std::exp(-static_cast<double>(outputs[0])));
    answer.best = outputs[0] > 0 ? 1 : 0;
    answer.probabilities = {1 - second, second};
    return answer;
  }
  const auto largest = std::max_element(outputs.begin(), outputs.end());
  answer.best = static_cast<std::size_t>(largest - outputs.begin());
  for (const float output : outputs)
    answer.probabilities.push_back(answers == Answers::shares
                                       ? std::clamp(static_cast<double>(output), 0.0, 1.0)
                                       : std::exp(static_cast<double>(output) - *largest));
  normalise(answer.probabilities);
  return answer;
}

}  // namespace dasgd
