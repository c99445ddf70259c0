// What a member has seen of the others: membership.jsonl, a line for every change of somebody.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "dasgd/elastic/protocol.hpp"

namespace dasgd::members {

class History {
 public:
  explicit History(const std::filesystem::path& directory)
      : file_(directory / "membership.jsonl") {}

  /// Writes down whose state has changed, once a second at most: a link that is behind now and then
  /// makes no long file.
  void look(const elastic::Protocol& protocol, Nanoseconds now);

 private:
  std::ofstream file_;
  std::map<elastic::Origin, std::string> states_;
  Nanoseconds next_ = 0;
};

}  // namespace dasgd::members
