// Numbers that others have published of the rivals, beside what the same setting gives here.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dasgd {

struct PublishedNumber {
  std::string source, setting;
  double published = 0;
  std::optional<double> here;  ///< nothing: it could not be repeated
  double tolerance = 0;        ///< relative: how near it is meant to be
  std::string note;            ///< how it was made, or why it could not be
  bool differs = false;        ///< it is known to come out otherwise here; the note says more

  bool agrees() const;
};

/// Runs everything that can be repeated in virtual time. `quick` makes shorter runs.
std::vector<PublishedNumber> repeat_published_numbers(bool quick);

std::string to_csv(const std::vector<PublishedNumber>& numbers);
std::string to_json(const std::vector<PublishedNumber>& numbers);
/// Seconds per epoch over the slowdown of one worker, published and here.
std::string to_svg(const std::vector<PublishedNumber>& numbers);

}  // namespace dasgd
