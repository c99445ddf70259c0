// A small noisy problem, and rivals played on it.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "dasgd/data/draws/batches.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/lab/rivals/vectors.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd::test {

/// F(x, xi) = |x - a_xi|^2 / 2: a gradient is x minus the mean of the batch's points.
class Points final : public Objective<double> {
 public:
  explicit Points(std::size_t dimension = 4, std::size_t count = 64) : d_(dimension), n_(count) {
    Random random(7, Purpose::test);
    for (std::size_t i = 0; i < d_ * n_; ++i) points_.push_back(random.normal());
  }
  std::size_t dimension() const override { return d_; }
  std::size_t samples() const override { return n_; }
  double gradient(std::span<const double> x, Rows rows, std::span<double> g) const override {
    double loss = 0;
    for (std::size_t i = 0; i < d_; ++i) {
      double mean = 0;
      for (const std::uint32_t row : rows) mean += points_[row * d_ + i];
      g[i] = x[i] - mean / static_cast<double>(rows.size());
      loss += g[i] * g[i] / 2;
    }
    if (on_gradient) on_gradient(x);
    return loss;
  }
  std::function<void(std::span<const double>)> on_gradient;

 private:
  const std::size_t d_, n_;
  std::vector<double> points_;
};

constexpr Nanoseconds ms = 1'000'000;

/// n workers that take 10 ms for a gradient; everything else is free.
struct Scene {
  explicit Scene(std::size_t workers, const std::string& topology = "full", double eta = 0.05,
                 std::size_t dimension = 4)
      : problem(dimension) {
    options.workers = workers;
    options.topology = topology;
    options.eta = eta;
    options.batch = 2;
    world.compute = TimeModel::constant(10 * ms);
    world.latency = TimeModel::constant(0);
    world.apply = 0;
  }
  Scene& gradients(std::uint64_t total) {
    options.total_gradients = total;
    return *this;
  }
  Scene& until(Nanoseconds time) {
    options.max_time = std::chrono::nanoseconds(time);
    return *this;
  }

  /// Makes the participants, from these starts where there are any, and plays them.
  PlayResult play(const std::string& rival, std::vector<std::vector<double>> starts = {}) {
    make(rival, std::move(starts));
    return dasgd::play(problem, participants, options, world, how);
  }
  /// The same on real threads.
  PlayResult perform(const std::string& rival, const Observer<double>* observer = nullptr) {
    make(rival);
    return dasgd::perform(problem, participants, options, world, how, observer);
  }
  void make(const std::string& rival, std::vector<std::vector<double>> starts = {}) {
    const ChosenRival chosen = choose_rival(rival, all_rivals());
    const Graph graph = graph_of(options);
    auto setup = setup_of(problem, graph, options.eta, chosen.numbers, how);
    if (!starts.empty()) setup.start = std::move(starts);
    participants = chosen.kind.make(setup);
  }
  /// Of all who hold one.
  std::vector<std::vector<double>> models() const {
    std::vector<std::vector<double>> all;
    for (const auto& participant : participants)
      if (const auto x = participant->model(); !x.empty()) all.emplace_back(x.begin(), x.end());
    return all;
  }
  template <typename Kind>
  const Kind& participant(std::size_t k) const {
    return dynamic_cast<const Kind&>(*participants[k]);
  }

  Points problem;
  TrainOptions options;
  VirtualWorld world;
  PlayOptions how;
  Participants<double> participants;
};

/// Plain SGD on the batches of one worker.
inline std::vector<double> sgd(const Scene& scene, std::size_t worker, std::size_t steps,
                               double eta) {
  Batches batches({scene.options.seed, Sampling::own, scene.options.workers,
                   scene.problem.samples(), *scene.options.batch},
                  worker_id(worker));
  std::vector<double> x = scene.problem.start(), g(x.size());
  for (std::size_t k = 0; k < steps; ++k) {
    scene.problem.gradient(x, batches.next().rows, g);
    subtract<double>(x, eta, g);
  }
  return x;
}

inline void expect_near(const std::vector<double>& a, const std::vector<double>& b,
                        double tolerance = 1e-12) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

inline std::vector<double> mean_of(const std::vector<std::vector<double>>& models) {
  std::vector<double> mean(models.front().size());
  for (const auto& model : models)
    for (std::size_t i = 0; i < mean.size(); ++i)
      mean[i] += model[i] / static_cast<double>(models.size());
  return mean;
}

}  // namespace dasgd::test
