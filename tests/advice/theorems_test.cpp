// Every step of the proofs in docs/theory.md, evaluated on random executions by the letter of the
// definitions: any order of delivery, any pace.
#include <cmath>
#include <gtest/gtest.h>
#include <memory>

#include "dasgd/problems/quadratic.hpp"
#include "dasgd/theory/bounds.hpp"
#include "dasgd/theory/step_size.hpp"
#include "support/effort.hpp"
#include "support/huber.hpp"
#include "support/random_execution.hpp"

namespace dasgd {
namespace {

using test::Execution;
using test::Names;
using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double square(const Vector& a) { return dot(a, a); }

/// What is added to the true gradient: a vector of norm sigma whose mean is 0.
struct Noise {
  double sigma = 0;
  std::uint64_t draw = 0;

  void add_to(Vector& g, GradientName name) const {
    if (sigma == 0) return;
    Random random(draw, Purpose::test, static_cast<std::uint32_t>(index(name.origin)),
                  name.sequence);
    const double each = sigma / std::sqrt(static_cast<double>(g.size()));
    for (double& c : g) c += random.below(2) == 0 ? each : -each;
  }
};

/// An execution with numbers: every model, every gradient, for one eta and one draw of the noise.
class Numbers {
 public:
  Numbers(const Execution& run, const Objective<double>& f, double eta, Noise noise = {})
      : f_(f), eta_(eta) {
    for (const test::Event& e : run.events)
      if (e.worker == index(e.gradient->name.origin)) {
        Vector g(f.dimension());
        f.full_gradient(model(run.compute_sets.at(e.gradient->name)), g);
        Q_ = std::max(Q_, std::sqrt(square(g)));
        noise.add_to(g, e.gradient->name);
        gradients_[e.gradient->name] = g;
      }
  }

  Vector model(const Names& set) const {
    Vector x = f_.start();
    for (const GradientName& name : set)
      for (std::size_t i = 0; i < x.size(); ++i) x[i] -= eta_ * gradients_.at(name)[i];
    return x;
  }
  double loss(const Vector& x) const { return f_.loss(x); }
  Vector slope(const Vector& x) const {
    Vector g(x.size());
    f_.full_gradient(x, g);
    return g;
  }
  const Vector& gradient(GradientName name) const { return gradients_.at(name); }
  double Q() const { return Q_; }
  double eta() const { return eta_; }

 private:
  const Objective<double>& f_;
  const double eta_;
  double Q_ = 0;
  std::map<GradientName, Vector> gradients_;
};

/// What the definitions say of one worker's applications.
struct WorkerFigures {
  double N = 0, sum_S = 0, sum_squares = 0;
  std::uint64_t W = 0, most_sets_with_one_gradient = 0;
};

WorkerFigures figures(const Execution& run, std::size_t worker, std::uint64_t& S_max) {
  WorkerFigures result;
  std::map<GradientName, std::uint64_t> weight, count;
  for (const test::Event& e : run.events) {
    const auto S = test::staleness_set(e.before, run.compute_sets.at(e.gradient->name));
    S_max = std::max<std::uint64_t>(S_max, S.size());
    if (e.worker != worker) continue;
    result.N += 1;
    result.sum_S += static_cast<double>(S.size());
    result.sum_squares += static_cast<double>(S.size() * S.size());
    for (const GradientName& g : S) {
      result.W = std::max(result.W, weight[g] += S.size());
      result.most_sets_with_one_gradient = std::max(result.most_sets_with_one_gradient, ++count[g]);
    }
  }
  return result;
}

/// The sum of |grad f(x_i^t)|^2, checking the descent lemma at every step.
double squared_gradients(const Execution& run, const Numbers& n, std::size_t worker, double L) {
  double sum = 0;
  const double eta = n.eta();
  for (const test::Event& e : run.events) {
    if (e.worker != worker) continue;
    const Vector x = n.model(e.before);
    const Vector slope = n.slope(x);
    sum += square(slope);
    Names after = e.before;
    after.insert(e.gradient->name);
    Vector Delta(x.size(), 0.0);
    double squares = 0;
    const auto S = test::staleness_set(e.before, run.compute_sets.at(e.gradient->name));
    for (const GradientName& g : S) {
      squares += square(n.gradient(g));
      for (std::size_t i = 0; i < x.size(); ++i) Delta[i] += eta * std::fabs(n.gradient(g)[i]);
    }
    const Vector y = n.model(run.compute_sets.at(e.gradient->name));
    Vector gap(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) gap[i] = x[i] - y[i];
    const double scale = 1e-9 * (1 + n.loss(x) + square(slope));
    // x_t and y_t differ by a signed sum over S_t.
    EXPECT_LE(square(gap), eta * eta * static_cast<double>(S.size()) * squares + scale);
    // The descent inequality of the certificate, and the paper's Lemma 6 (eta <= 1 / (2 L)).
    const double next = n.loss(n.model(after));
    EXPECT_LE(next, n.loss(x) - eta / 2 * square(slope) -
                        eta / 2 * (1 - eta * L) * square(n.gradient(e.gradient->name)) +
                        eta * L * L / 2 * square(gap) + scale);
    if (eta <= 1 / (2 * L)) {
      EXPECT_LE(next,
                n.loss(x) - eta / 2 * square(slope) + eta * L * L / 2 * square(Delta) + scale);
    }
  }
  return sum;
}

std::unique_ptr<Objective<double>> draw_objective(Random& random) {
  const std::size_t dimension = 1 + random.below(4);
  if (random.below(2) == 0) return std::make_unique<test::Huber>(random, dimension, 6);
  return std::make_unique<Quadratic>(Quadratic::random(random.bits(), dimension));
}

class Theorems : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Order, Theorems, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Reordered" : "InOrder"; });

TEST_P(Theorems, HoldOnRandomExecutions) {
  const bool reorder = GetParam();
  for (std::uint64_t seed = 1; seed <= 600; seed += test::sampled_one_in) {
    SCOPED_TRACE(seed);
    Random random(seed, Purpose::test, 7);
    const Execution run =
        test::draw_execution(seed, reorder ? test::Delivery::any_gradient : test::Delivery::oldest);
    const auto f = draw_objective(random);
    const double L = *f->known().smoothness;
    const double start = f->loss(f->start());
    const double share = 0.3 + 0.7 * random.uniform();
    for (std::size_t i = 0; i < run.workers; ++i) {
      std::uint64_t S_max = 0;
      const WorkerFigures w = figures(run, i, S_max);
      ASSERT_LE(w.most_sets_with_one_gradient, S_max == 0 ? 0 : (reorder ? 3 : 2) * S_max - 1);
      Names all;
      for (const auto& [name, set] : run.compute_sets) all.insert(name);
      const auto check = [&](double eta, auto bound) {
        const Numbers n(run, *f, eta);
        const double sum = squared_gradients(run, n, i, L);
        ASSERT_LE(sum, w.N * bound(n) + 1e-9 * (1 + sum));
      };
      const theory::Constants constants{start - *f->known().least_loss, L, 0, 0};
      check(share * theory::certified_eta(L, w.W), [&](const Numbers& n) {
        return theory::certificate_bound(start - n.loss(n.model(all)), n.eta(), w.N);
      });
      check(theory::a_priori_eta(L, static_cast<double>(S_max)),
            [&](const Numbers& n) { return theory::a_priori_bound(constants, n.eta(), w.N); });
      check(share * theory::mean_square_eta(L), [&](const Numbers& n) {
        theory::Constants c = constants;
        c.Q = n.Q();
        return theory::mean_square_bound(c, n.eta(), w.N, w.sum_squares / w.N, w.sum_S / w.N);
      });
    }
  }
}

/// A mean over draws and how far it may be from the expectation.
class MeanOverDraws {
 public:
  void add(double value) {
    ++count_;
    sum_ += value;
    squares_ += value * value;
  }
  double mean() const { return sum_ / count_; }
  /// Below the expectation but for one chance in 10^5.
  double low() const {
    const double variance = std::max(0.0, squares_ / count_ - mean() * mean());
    return mean() - 4.3 * std::sqrt(variance / (count_ - 1));
  }

 private:
  double count_ = 0, sum_ = 0, squares_ = 0;
};

/// Of one worker over many draws: the sum of |grad f(x_t)|^2, and at every application the left
/// side of Lemma 6 less its right side.
struct NoisyRun {
  MeanOverDraws sum;
  std::vector<MeanOverDraws> lemma_6;
  double Q = 0;
};

void add_draw(const Execution& run, const Numbers& n, std::size_t worker, double L, double sigma,
              NoisyRun& to) {
  const double eta = n.eta();
  double sum = 0;
  std::size_t t = 0;
  for (const test::Event& e : run.events) {
    if (e.worker != worker) continue;
    const Vector x = n.model(e.before);
    const double slope = square(n.slope(x));
    sum += slope;
    Names after = e.before;
    after.insert(e.gradient->name);
    Vector Delta(x.size(), 0.0);
    for (const GradientName& g :
         test::staleness_set(e.before, run.compute_sets.at(e.gradient->name)))
      for (std::size_t i = 0; i < x.size(); ++i) Delta[i] += eta * std::fabs(n.gradient(g)[i]);
    if (to.lemma_6.size() <= t) to.lemma_6.emplace_back();
    to.lemma_6[t++].add(n.loss(n.model(after)) - n.loss(x) + eta / 2 * slope -
                        L * eta * eta * sigma * sigma - eta * L * L / 2 * square(Delta));
  }
  to.sum.add(sum);
  to.Q = std::max(to.Q, n.Q());
}

TEST(Theorems, HoldWithNoiseOnAverageWhereDeliveryIsCausal) {
  constexpr std::uint64_t draws = 120;
  std::size_t above_what_holds_without_noise = 0;
  for (std::uint64_t seed = 1; seed <= 60; seed += test::sampled_one_in) {
    SCOPED_TRACE(seed);
    Random random(seed, Purpose::test, 12);
    const Execution run = test::draw_execution(seed, test::Delivery::oldest);
    const auto f = draw_objective(random);
    const double L = *f->known().smoothness, sigma = 1 + 4 * random.uniform();
    const std::size_t i = random.below(static_cast<std::uint32_t>(run.workers));
    std::uint64_t S_max = 0;
    const WorkerFigures w = figures(run, i, S_max);
    const double S_avg = w.sum_S / w.N, S_ms = w.sum_squares / w.N;
    theory::Constants c{f->loss(f->start()) - *f->known().least_loss, L, sigma * sigma, 0};
    const auto check = [&](const char* what, double eta, auto bound) {
      SCOPED_TRACE(what);
      NoisyRun found;
      for (std::uint64_t draw = 0; draw < draws; ++draw)
        add_draw(run, Numbers(run, *f, eta, {sigma, 1000 * seed + draw}), i, L, sigma, found);
      c.Q = found.Q;
      EXPECT_LE(found.sum.low(), w.N * bound(eta) * (1 + 1e-9));
      if (eta <= 1 / (2 * L)) {
        for (const MeanOverDraws& step : found.lemma_6) EXPECT_LE(step.low(), 1e-9);
      }
      if (found.sum.low() > w.N * theory::certificate_bound(c.r0, eta, w.N))
        ++above_what_holds_without_noise;
    };
    check("certificate with noise", theory::noise_certified_eta(L, w.W),
          [&](double eta) { return theory::noise_certificate_bound(c, eta, w.N, S_avg); });
    check("a priori", theory::a_priori_eta(L, static_cast<double>(S_max)),
          [&](double eta) { return theory::a_priori_bound(c, eta, w.N); });
    check("mean square", theory::mean_square_eta(L) * (0.3 + 0.7 * random.uniform()),
          [&](double eta) { return theory::mean_square_bound(c, eta, w.N, S_ms, S_avg); });
  }
  EXPECT_GT(above_what_holds_without_noise, 0u) << "the noise was too small to show anything";
}

TEST(Theorems, TheVirtualSequenceObeysItsBound) {
  for (std::uint64_t seed = 1; seed <= 600; seed += test::sampled_one_in) {
    SCOPED_TRACE(seed);
    Random random(seed, Purpose::test, 8);
    const Execution run = test::draw_execution(
        seed, seed % 2 == 0 ? test::Delivery::any_gradient : test::Delivery::any_link);
    const auto f = draw_objective(random);
    const Numbers n(run, *f, theory::virtual_sequence_eta(*f->known().smoothness));
    Names before;
    double sum = 0, squares = 0, m = 0;
    for (const test::Event& e : run.events) {
      if (e.worker != index(e.gradient->name.origin)) continue;
      sum += square(n.slope(n.model(before)));
      const double R = m - static_cast<double>(e.gradient->origin_step);
      ASSERT_GE(R, 0);
      squares += R * R;
      before.insert(e.gradient->name);
      m += 1;
    }
    const theory::Constants c{f->loss(f->start()) - *f->known().least_loss, *f->known().smoothness,
                              0, n.Q()};
    ASSERT_LE(sum,
              m * theory::virtual_sequence_bound(c, n.eta(), m, squares / m) + 1e-9 * (1 + sum));
  }
}

}  // namespace
}  // namespace dasgd
