// An algorithm of one's own (token_worker.hpp) against asynchronous and minibatch SGD, in virtual
// time.
#include <cstdio>
#include <vector>

#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/problems/quadratic.hpp"
#include "token_worker.hpp"

int main() {
  const auto problem = dasgd::Quadratic::random(1);
  std::vector<dasgd::RivalKind> kinds = dasgd::all_rivals();
  kinds.push_back(dasgd::made_by({.name = "token", .summary = "a token goes round"},
                                 [](const auto& setup) { return make_token(setup); }));
  const dasgd::TrainOptions options{.workers = 4, .eta = 0.02, .total_gradients = 400};
  for (const char* name : {"token", "asgd", "minibatch"}) {
    double loss = 0;
    const dasgd::Observer<double> observer{100'000'000, [&](const dasgd::Instant<double>& now) {
                                             loss = problem.loss(now.models[0]);
                                             return false;
                                           }};
    const auto result = dasgd::play<double>(problem, dasgd::choose_rival(name, kinds), options, {},
                                            {.measured_S = 400}, &observer);
    std::printf("%-10s %4llu gradients in %.2f s, S_avg %.2f, loss above its least %.1e\n", name,
                static_cast<unsigned long long>(result.gradients), result.seconds,
                result.S_avg.value_or(0), loss - *problem.known().least_loss);
  }
}
