// Look-ahead: how far a worker computes ahead of its replica, where the others are about to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace dasgd {

/// lambda of y = x - lambda * (own recent updates in place of the missing ones of others).
struct LookAhead {
  enum class Kind { off, fixed, automatic };
  Kind kind = Kind::off;
  double lambda = 0;        ///< of `fixed`
  std::size_t workers = 0;  ///< of the run, where it is known

  /// Algorithm 1 of the paper, bit for bit.
  bool is_off() const { return kind == Kind::off; }
  friend bool operator==(const LookAhead&, const LookAhead&) = default;
};

/// What look-ahead did: means over so many own gradients.
struct LookAheadFigures {
  std::uint64_t gradients = 0;
  double lambda = 0;             ///< as it was last
  double missing_estimated = 0;  ///< foreign gradients that were expected to be missing
  double missing_true = 0;       ///< those begun before an own one and applied after it
  double gap = 0;                ///< |x - y| / |x|

  /// Takes those of another worker in.
  void add(const LookAheadFigures& other);
};

/// "off", "auto" or a number from 0 to 1, where 0 is off. Throws InputError for anything else.
LookAhead parse_look_ahead(const std::string& text);
std::string to_string(const LookAhead& how);

}  // namespace dasgd
