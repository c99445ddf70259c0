// Why a run ended and what it was trained on, in words.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "dasgd/record/stop_reason.hpp"

namespace dasgd {

/// "the budget is used up". Takes the name that summary.json has; one that it does not know is
/// returned as it is.
inline std::string stop_in_words(std::string_view reason) {
  constexpr auto words = std::to_array<const char*>(
      {"the budget is used up", "the samples are used up", "every worker reached the target",
       "the target accuracy was reached", "the target loss was reached",
       "no evaluation found a better model", "the time limit was reached", "a callback stopped it",
       "a stop was requested", "this member left", "interrupted", "the loss diverged",
       "the run failed"});
  static_assert(words.size() == stop_reason_names.size());
  const auto at = std::find(stop_reason_names.begin(), stop_reason_names.end(), reason);
  return at == stop_reason_names.end()
             ? std::string(reason)
             : words[static_cast<std::size_t>(at - stop_reason_names.begin())];
}

/// "a stream from standard input"; the name or path of a data set as it is.
inline std::string data_in_words(const std::string& data) {
  constexpr std::string_view follow = "follow:";
  if (data == "-") return "a stream from standard input";
  return data.starts_with(follow) ? "a stream from " + data.substr(follow.size()) : data;
}

}  // namespace dasgd
