// How the step size changes along a run.
#pragma once

#include <optional>
#include <string>

namespace dasgd {

/// The factor on eta as a function of a clock that counts what all workers have done together: t,
/// the applications that the origin has made. So the clock is local to the origin, all workers are
/// at about the same place however unequal their speeds are, and it ends with the run.
struct Schedule {
  enum class Kind { constant, step, cosine, cooldown };
  Kind kind = Kind::constant;
  double every = 1;  ///< step: the factor is multiplied each time
  double by = 1;     ///< step: with this
  /// cosine, cooldown: where it ends; nothing: with the budget of the run
  std::optional<double> total;
  double floor = 0;              ///< cosine: the factor at the end and after it
  double share = default_share;  ///< cooldown: of the run, in which the factor falls from 1 to 0
  double warmup = 0;             ///< rises linearly over so many gradients of all workers

  static constexpr double default_share = 0.3;
  bool is_constant() const { return kind == Kind::constant && warmup == 0; }
  double factor(double clock) const;
};

/// "constant", "step:EVERY:FACTOR", "cosine[:TOTAL[:FLOOR]]" or "cooldown[:TOTAL[:SHARE]]". Throws
/// InputError. The warm-up is left as it is.
void set_schedule(Schedule& schedule, const std::string& text);
/// The text that `set_schedule` reads.
std::string to_string(const Schedule& schedule);

}  // namespace dasgd
