// What a sweep varies: a key of the config file and the values that it takes.
#pragma once

#include <string>
#include <vector>

#include "dasgd/settings/settings.hpp"

namespace dasgd::config {

struct Variation {
  std::string key;
  std::vector<std::string> values;  ///< as they would stand on a command line
};

/// Reads KEY=SPEC, where SPEC is a list "a,b,c" ("a;b;c" where values have commas), or a range
/// "a..b:log:n" or "a..b:lin:n" of n values from a to b, both included. Ends of a range may have a
/// unit, the same for both; keys of whole numbers take the nearest ones. Throws InputError, with a
/// suggestion for a key that the command does not have.
Variation parse_variation(Command command, const std::string& text);

/// The same, and KEY+KEY=A+B,C+D for keys that change together: the first takes A, then C, the
/// second B, then D. There is one variation for each key, all with as many values.
std::vector<Variation> parse_variations(Command command, const std::string& text);

}  // namespace dasgd::config
