// How long things take in virtual time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "dasgd/base/time.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {

/// A duration for every draw of every item (a worker or a link). A draw is a pure function of the
/// seed, the item and its index: the order of events cannot change it.
class TimeModel {
 public:
  /// The same for all.
  static TimeModel constant(Nanoseconds time);
  /// One value per item.
  static TimeModel per_item(std::vector<Nanoseconds> times);
  static TimeModel uniform(Nanoseconds low, Nanoseconds high);
  static TimeModel lognormal(Nanoseconds median, double sigma);
  static TimeModel exponential(Nanoseconds mean);
  /// Per item, its recorded durations one after the other, over and over.
  static TimeModel replay(std::vector<std::vector<Nanoseconds>> recorded);
  /// What an own function says, from the item, the index of the draw and random numbers that are
  /// this draw's alone. It must depend on nothing else. A negative time is refused, by InputError.
  using Draw = std::function<Nanoseconds(std::size_t item, std::uint64_t index, Random& random)>;
  static TimeModel custom(Draw draw);

  Nanoseconds draw(std::uint64_t seed, Purpose purpose, std::size_t item,
                   std::uint64_t index) const {
    return kind_ == Kind::constant ? low_ : draw_other(seed, purpose, item, index);
  }

  bool is_constant() const { return kind_ == Kind::constant; }
  /// What other times are in proportion to: the median of a lognormal, the mean of others, the
  /// first of a table.
  Nanoseconds usual() const;
  /// Bounds of all draws; the largest may be the largest number there is.
  Nanoseconds smallest() const;
  Nanoseconds largest() const;
  /// How many items the model names; 0: any number.
  std::size_t items() const;

 private:
  enum class Kind { constant, per_item, uniform, lognormal, exponential, replay, custom };
  Nanoseconds draw_other(std::uint64_t seed, Purpose purpose, std::size_t item,
                         std::uint64_t index) const;

  Kind kind_ = Kind::constant;
  Nanoseconds low_ = 0, high_ = 0;
  double sigma_ = 0;
  std::vector<std::vector<Nanoseconds>> table_;
  Draw custom_;
};

}  // namespace dasgd
