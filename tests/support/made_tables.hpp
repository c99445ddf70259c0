#pragma once

#include <string>
#include <vector>

#include "dasgd/random/random.hpp"

namespace dasgd::test {

/// A CSV file of clusters far from zero, whose labels are words: easy with scaling, hopeless
/// without.
inline std::string clusters_csv(std::size_t rows, std::uint32_t salt, bool header = true) {
  const std::vector<std::string> names{"oak", "\"pine, old\"", "yew"};
  std::string text = header ? "height,width,age,kind\n" : "";
  Random chance(5, Purpose::test, salt);
  for (std::size_t r = 0; r < rows; ++r) {
    const std::uint32_t kind = chance.below(3);
    for (std::uint32_t c = 0; c < 3; ++c)
      text += std::to_string(1000 + 50 * (chance.normal() + (c == kind ? 3 : 0))) + ",";
    text += names[kind] + "\n";
  }
  return text;
}

/// Numbers and labels that have nothing to do with each other.
inline std::string noise_csv(std::size_t rows, std::size_t columns, bool classes) {
  std::string text;
  Random chance(6, Purpose::test);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) text += std::to_string(chance.normal()) + ",";
    text += (classes ? std::to_string(chance.below(2)) : std::to_string(chance.normal())) + "\n";
  }
  return text;
}

}  // namespace dasgd::test
