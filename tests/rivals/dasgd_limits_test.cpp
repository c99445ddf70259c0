// DASGD beside its rivals: where it is one of them, and that staleness is one and the same.
#include <deque>

#include "dasgd/core/error.hpp"
#include "dasgd/sim/simulate.hpp"
#include "rivals/support.hpp"

namespace dasgd::test {
namespace {

TEST(Limits, DasgdOnTheFullGraphWithoutLatencyComputesAtThePointsOfAsgd) {
  std::vector<std::vector<double>> points[2];
  for (const bool dasgd : {true, false}) {
    Scene scene(6);
    scene.world.compute = TimeModel::lognormal(10 * ms, 0.7);
    scene.options.slow = {{WorkerId{3}, 5}};
    scene.problem.on_gradient = [&](std::span<const double> x) {
      points[dasgd].emplace_back(x.begin(), x.end());
    };
    scene.gradients(400);
    scene.options.look_ahead = LookAhead{};
    if (dasgd)
      simulate(scene.problem, scene.options, scene.world);
    else
      scene.play("asgd");
  }
  ASSERT_GE(points[1].size(), 400u);
  for (std::size_t k = 0; k < 400; ++k) expect_near(points[1][k], points[0][k], 1e-9);
}

TEST(Limits, DasgdInLockstepWithoutLatencyIsMinibatchWithTheSum) {
  Scene scene(5);
  scene.gradients(5 * 20).play("minibatch");
  const auto result = simulate(scene.problem, scene.options, scene.world);
  expect_near(result.model, scene.models()[0], 1e-9);
}

TEST(Limits, DasgdAloneIsSgdToItsRounding) {
  Scene scene(1);
  const auto result = simulate(scene.problem, scene.gradients(40).options, scene.world);
  expect_near(result.model, sgd(scene, 0, 40, 0.05), 1e-12);
}

/// DASGD on the full graph in plain floating point, as a rival: applies what has come between two
/// gradients.
class Broadcaster final : public Rival<double> {
 public:
  Broadcaster(std::size_t self, const RivalSetup<double>& setup)
      : self_(self), n_(setup.workers()), eta_(setup.eta), x_(setup.start_of(self)) {}
  void start(Port<double>& port) override { port.compute(x_); }
  void computed(Port<double>& port, std::span<const double> gradient, double) override {
    apply(port, gradient);
    for (std::size_t j = 0; j < n_; ++j)
      if (j != self_) port.send(j, {share(gradient)});
    for (; !waiting_.empty(); waiting_.pop_front()) apply(port, *waiting_.front());
    port.compute(x_);
  }
  void received(Port<double>&, const RivalMessage<double>& letter) override {
    waiting_.push_back(letter.numbers);
  }
  std::span<const double> model() const override { return x_; }

 private:
  void apply(Port<double>& port, std::span<const double> gradient) {
    port.updating(x_, gradient);
    subtract<double>(x_, eta_, gradient);
  }
  const std::size_t self_, n_;
  const double eta_;
  std::vector<double> x_;
  std::deque<Shared<double>> waiting_;
};

// Of all applications of all workers, from the trace.
struct SumOfS final : TraceSink {
  explicit SumOfS(Nanoseconds end) : until(end) {}
  void add(WorkerId, std::vector<TraceLine> lines, Nanoseconds) override {
    for (const TraceLine& line : lines) {
      if (line.time >= until) continue;
      sum += static_cast<double>(*line.S);
      max = std::max(max, static_cast<double>(*line.S));
      ++count;
    }
  }
  std::size_t sources() const override { return 1; }
  std::exception_ptr failure() const override { return nullptr; }
  const Nanoseconds until;
  double sum = 0, max = 0;
  std::size_t count = 0;
};

TEST(Staleness, OfCoefficientsIsTheSizeOfTheSetForDasgd) {
  Scene scene(4);
  scene.world.compute = TimeModel::lognormal(10 * ms, 0.7);
  scene.world.latency = TimeModel::constant(2 * ms);
  scene.how.measured_S = 400;
  const Graph graph = graph_of(scene.options);
  const auto setup = setup_of(scene.problem, graph, 0.05, {}, scene.how);
  for (std::size_t i = 0; i < 4; ++i)
    scene.participants.push_back(std::make_unique<Broadcaster>(i, setup));
  scene.until(900 * ms);
  const PlayResult played =
      play(scene.problem, scene.participants, scene.options, scene.world, scene.how);
  ASSERT_TRUE(played.S_avg);

  SumOfS traced(900 * ms);
  scene.options.trace = &traced;
  const auto result = run_simulation<double>(scene.problem, scene.options, scene.world);
  EXPECT_GT(traced.max, 5);
  EXPECT_DOUBLE_EQ(*played.S_avg, traced.sum / static_cast<double>(traced.count));
  EXPECT_EQ(*played.S_max, traced.max);
  EXPECT_EQ(result.summary.lost, 0u);
}

TEST(Staleness, OfAsgdIsItsDelay) {
  Scene scene(5);
  scene.how.measured_S = 500;
  const PlayResult result = scene.gradients(500).play("asgd");
  EXPECT_EQ(result.S_max, 4.0);
  EXPECT_DOUBLE_EQ(*result.S_avg, (0 + 1 + 2 + 3 + 495 * 4 + 4) / 500.0);
}

TEST(Staleness, OfSynchronousMethodsIsZero) {
  for (const std::string rival : {"minibatch", "rennala", "local-sgd", "minibatch:backup=1"}) {
    Scene scene(5);
    scene.how.measured_S = 500;
    EXPECT_EQ(scene.gradients(500).play(rival).S_max, 0.0) << rival;
  }
}

}  // namespace
}  // namespace dasgd::test
