// A rule and a graph of your own, and a run that leaves a directory: sign-SGD among six workers,
// two triangles that one link joins. Only the origin sees a rule: what travels is its update.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <dasgd/archive/directory_run.hpp>
#include <dasgd/dasgd.hpp>

/// Steps of the same length whatever the gradient, shorter and shorter.
struct SignStep final : dasgd::UpdateRule<double> {
  double prepare(std::uint64_t t, dasgd::Replica<double>&, std::span<double> gradient) override {
    for (double& g : gradient) g = g > 0 ? 1 : g < 0 ? -1 : 0;
    return 0.01 / std::sqrt(1 + static_cast<double>(t) / 100);
  }
};

dasgd::Graph two_triangles() {
  dasgd::Graph graph(6);
  for (const auto& [a, b] : {std::pair(0, 1), {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {2, 3}})
    graph.connect_both(dasgd::worker_id(a), dasgd::worker_id(b));
  return graph;
}

int main() {
  const auto problem = dasgd::Quadratic::random(1);
  const dasgd::MakeRuleOf<double> sign_step = [](dasgd::WorkerId) {
    return std::make_unique<SignStep>();
  };
  const dasgd::DirectoryOptions where{
      .path = std::filesystem::temp_directory_path() / ("own_rule-" + std::to_string(::getpid())),
      .trace = true};
  const auto result = dasgd::train_into<double>(
      where, problem,
      {.workers = 6, .graph = two_triangles(), .make_rule = sign_step, .gradients = {1000}});
  std::printf("%llu gradients, %llu lost, replicas identical: %s\n",
              static_cast<unsigned long long>(result.summary.gradients),
              static_cast<unsigned long long>(result.summary.lost),
              result.summary.replicas_identical ? "yes" : "no");
  std::printf("nearer to the optimum than at the start: %s\n",
              result.summary.loss < problem.loss(problem.start()) ? "yes" : "no");
  for (const char* name : {"model.npy", "summary.json", "trace.jsonl", "charts"})
    std::printf("%s: %s\n", name,
                std::filesystem::exists(where.path + "/" + name) ? "written" : "missing");
  std::filesystem::remove_all(where.path);
}
