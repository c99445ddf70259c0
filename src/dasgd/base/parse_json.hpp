// JSON as all files of ours are read: a key that is given twice makes a file malformed, because
// readers disagree on which value counts.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dasgd {

/// Looks on while JSON is parsed. What is nested without end, which functions that recurse do not
/// bear, is as malformed.
template <typename Json>
class RepeatedKeys {
 public:
  bool found() const { return found_; }
  bool operator()(int depth, typename Json::parse_event_t event, Json& parsed) {
    using Event = typename Json::parse_event_t;
    if (depth > most_depth) {
      found_ = true;
      return false;
    }
    if (event == Event::object_start) open_.emplace_back();
    if (event == Event::object_end) open_.pop_back();
    if (event == Event::key) found_ |= !open_.back().add(parsed.template get<std::string>());
    return true;
  }

 private:
  /// Few keys, as in a line of a trace, are found faster one by one.
  class Keys {
   public:
    bool add(std::string key) {
      if (few_.size() == most_few) return !is_few(key) && many_.insert(std::move(key)).second;
      if (is_few(key)) return false;
      few_.push_back(std::move(key));
      return true;
    }

   private:
    static constexpr std::size_t most_few = 16;
    bool is_few(const std::string& key) const {
      return std::find(few_.begin(), few_.end(), key) != few_.end();
    }
    std::vector<std::string> few_;
    std::set<std::string> many_;
  };

  static constexpr int most_depth = 256;
  std::vector<Keys> open_;
  bool found_ = false;
};

/// Text or a stream; a discarded value for what is not JSON or repeats a key.
template <typename Json = nlohmann::json, typename Input>
Json parse_json(Input&& input) {
  RepeatedKeys<Json> repeated;
  Json json = Json::parse(
      std::forward<Input>(input),
      [&](int depth, typename Json::parse_event_t event, Json& parsed) {
        return repeated(depth, event, parsed);
      },
      false);
  return repeated.found() ? Json(Json::value_t::discarded) : json;
}

}  // namespace dasgd
