// Measures the residuals of the paper's Lemmas 7 and 8 by their letter, with the global view of
// virtual time.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/record/residuals.hpp"
#include "dasgd/theory/bounds.hpp"

namespace dasgd {

/// What the right sides of the lemmas need; they are for gradients without noise and one fixed eta.
struct LemmaTerms {
  theory::Constants constants;  ///< L, 0 where it is not known; Q, the largest gradient of the run
  double eta = 0, S_avg = 0;
  std::vector<double> squared_gradients;  ///< per worker, the sum of |grad f(x_i^t)|^2
  bool comparable = true;                 ///< no noise, one eta
};

/// Keeps every model and every gradient of a run, so it is for small ones: it gives up beyond
/// `most_bytes`. Applications are reported in the order in which they are complete, an own one
/// first.
template <typename Real>
class ResidualMeter {
 public:
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;

  /// Sums over the applications of one worker.
  struct Sums {
    double distance = 0, over_S = 0, over_S_hat = 0, applications = 0;
  };

  ResidualMeter(std::size_t workers, std::size_t dimension)
      : dimension_(dimension),
        moved_(workers, Vector(dimension, 0.0)),
        applied_(workers, GradientSet(workers)),
        records_(workers),
        sums_(workers) {}

  /// False once there is too much to keep; then nothing is measured.
  bool keeps_up() const { return bytes_ <= most_bytes; }

  void applied(WorkerId worker, const GradientPtr& gradient) {
    if (worker == gradient->name.origin) remember(gradient);
    if (!keeps_up()) return;
    Vector& x = moved_[index(worker)];
    GradientSet& before = applied_[index(worker)];
    const Record& record = of(gradient->name);
    Sums& sums = sums_[index(worker)];
    sums.distance += squared_distance(x, record.at);
    const Names S = staleness_set(before, gradient->compute_set);
    sums.over_S += squared_sum_of_absolutes(S);
    sums.over_S_hat += squared_sum_of_absolutes(loose_set(before, gradient->name, S));
    sums.applications += 1;
    add(*gradient, x);
    before.insert(gradient->name);
    for (const Vector& other : moved_) farthest_ = std::max(farthest_, squared_distance(x, other));
  }

  /// Nothing if it has not kept up.
  std::optional<Residuals> against_lemmas(const LemmaTerms& terms) const {
    if (!keeps_up()) return std::nullopt;
    Residuals found{.max_replica_distance = std::sqrt(farthest_)};
    if (terms.comparable)
      found.lemma_7.bound = theory::published_residual_1(terms.constants, terms.eta, terms.S_avg);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const double N = std::max(1.0, sums_[i].applications);
      found.distance = std::max(found.distance, sums_[i].distance / N);
      found.lemma_7.mean = std::max(found.lemma_7.mean, sums_[i].over_S / N);
      if (i > 0 && sums_[i].over_S_hat / N <= found.lemma_8.mean) continue;
      found.lemma_8.mean = sums_[i].over_S_hat / N;
      if (terms.comparable && terms.constants.L > 0)
        found.lemma_8.bound = theory::published_residual_2(terms.constants, terms.eta,
                                                           terms.squared_gradients[i] / N);
    }
    return found;
  }

  const std::vector<Sums>& sums() const { return sums_; }

 private:
  using Vector = std::vector<double>;
  using Names = std::set<GradientName>;
  struct Record {
    GradientPtr gradient;
    Vector at;  // where it was computed, from x^0
  };

  const Record& of(GradientName name) const { return records_[index(name.origin)][name.sequence]; }

  // A worker's replica does not change while it computes: it is where the gradient was computed.
  void remember(const GradientPtr& gradient) {
    bytes_ += dimension_ * (sizeof(double) + sizeof(Number<Real>));
    if (!keeps_up()) return;
    auto& own = records_[index(gradient->name.origin)];
    own.resize(std::max<std::size_t>(own.size(), gradient->name.sequence + 1));
    own[gradient->name.sequence] = {gradient, moved_[index(gradient->name.origin)]};
  }

  static double squared_distance(const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
  }

  static double coordinate(const Gradient& gradient, std::size_t c) {
    const auto number = static_cast<double>(gradient.update.template numbers<Real>()[c]);
    return std::ldexp(number, gradient.update.shift + FixedPoint<Real>::unit_exponent);
  }
  static void add(const Gradient& gradient, Vector& x) {
    for (std::size_t c = 0; c < x.size(); ++c) x[c] += coordinate(gradient, c);
  }

  static void add_missing(const GradientSet& of, const GradientSet& from, Names& to) {
    of.for_each_range_missing_from(from,
                                   [&](WorkerId origin, std::uint32_t first, std::uint32_t last) {
                                     for (; first < last; ++first) to.insert({origin, first});
                                   });
  }
  static Names staleness_set(const GradientSet& before, const GradientSet& compute_set) {
    Names S;
    add_missing(before, compute_set, S);
    add_missing(compute_set, before, S);
    return S;
  }

  // S and, for every gradient that the origin knew and this worker lacks, the same of that one.
  Names loose_set(const GradientSet& before, GradientName name, const Names& S) const {
    Names loose = S, seen{name};
    std::vector<GradientName> open(S.begin(), S.end());
    while (!open.empty()) {
      const GradientName h = open.back();
      open.pop_back();
      if (before.contains(h) || !seen.insert(h).second) continue;
      for (const GradientName& inner : staleness_set(before, of(h).gradient->compute_set))
        if (loose.insert(inner).second) open.push_back(inner);
    }
    return loose;
  }

  double squared_sum_of_absolutes(const Names& names) const {
    if (names.empty()) return 0;
    Vector Delta(dimension_, 0.0);
    for (const GradientName& name : names)
      for (std::size_t c = 0; c < dimension_; ++c)
        Delta[c] += std::fabs(coordinate(*of(name).gradient, c));
    double sum = 0;
    for (const double d : Delta) sum += d * d;
    return sum;
  }

  const std::size_t dimension_;
  std::vector<Vector> moved_;                 // of each worker, x_i - x^0
  std::vector<GradientSet> applied_;          // of each worker, G_i
  std::vector<std::vector<Record>> records_;  // by origin and sequence
  std::vector<Sums> sums_;
  double farthest_ = 0;  // squared
  std::size_t bytes_ = 0;
};

}  // namespace dasgd
