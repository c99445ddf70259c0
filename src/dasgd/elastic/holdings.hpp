// What a member holds, what it may still send one by one, and what it has only heard of.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "dasgd/elastic/adoption/adoption.hpp"
#include "dasgd/elastic/adoption/log.hpp"
#include "dasgd/elastic/membership/membership.hpp"
#include "dasgd/run/budget.hpp"

namespace dasgd::elastic {

class Holdings {
 public:
  explicit Holdings(const Membership& members) : members_(members) {}

  /// Applied or waiting to be.
  const GradientSet& names() const { return names_; }
  std::uint64_t samples() const { return samples_; }
  const GradientSet& abandoned() const { return abandoned_; }
  const Log& log() const { return log_; }
  Log& log() { return log_; }
  /// How many gradients of an origin were ever heard of.
  std::uint32_t announced(WorkerId origin) const {
    return index(origin) < announced_.size() ? announced_[index(origin)] : 0;
  }

  /// Somebody holds these, or has computed so many.
  void note(const GradientSet& names);
  void note(WorkerId origin, std::uint32_t count);
  /// Whether none of it is held.
  bool is_new(const Parcel& parcel) const;
  /// Of a bundle some of whose names have come on another way, the others, where the log has what
  /// has come. Else nothing: they come with a model, when this member asks for it.
  Parcel rest_of(const Parcel& parcel) const;
  /// It has come again.
  void drop_copy() { ++copies_dropped_; }
  std::uint64_t copies_dropped() const { return copies_dropped_; }
  void add(const Parcel& parcel, Nanoseconds now, bool at_once);
  void add_own(GradientPtr gradient, Nanoseconds now);
  void adopt(const Adoption& adoption);
  /// Recounts what members here have reported and this one lacks: on a thin link a gradient may
  /// take long to arrive.
  void count_missing();

  /// Gradients that there is room for, as far as this member knows.
  std::uint64_t budget_left(const Budget& budget) const;
  /// Own gradients that others may not know of: if all make as many at once, a quarter of what is
  /// left is used up.
  std::uint64_t most_unreported(const Budget& budget) const;
  /// Gradients of each origin that were heard of and are neither held nor among these.
  std::vector<std::uint64_t> missing_beside(const GradientSet& abandoned) const;

 private:
  friend struct StateOf;
  /// Whether gradients of this member that are not here can still arrive.
  bool may_bring(WorkerId origin) const;

  const Membership& members_;
  Log log_;
  GradientSet names_, abandoned_;
  std::uint64_t samples_ = 0, copies_dropped_ = 0;
  std::uint64_t missing_ = 0;  // that may still arrive, about
  std::vector<std::uint32_t> announced_;
};

}  // namespace dasgd::elastic
