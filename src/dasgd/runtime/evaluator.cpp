#include "dasgd/runtime/evaluator.hpp"

#include <algorithm>
#include <utility>

namespace dasgd {

template <typename Real>
Evaluator<Real>::Evaluator(const Objective<Real>& objective, const TrainOptions& options,
                           Clock::time_point start, ModelBoard<Real>& models, Control& control)
    : objective_(objective),
      options_(options),
      start_(start),
      models_(models),
      control_(control),
      judge_(objective, options),
      since_best_(judge_.since_best()) {
  if (options.evaluation.every.count() > 0)
    thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

template <typename Real>
typename Evaluator<Real>::News Evaluator<Real>::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

template <typename Real>
void Evaluator<Real>::stop() {
  thread_ = {};
}

template <typename Real>
void Evaluator<Real>::run(std::stop_token stop) {
  const EvaluationOptions& wanted = options_.evaluation;
  std::chrono::nanoseconds pause = wanted.every;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (pause_.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) return;
    }
    Clock::time_point began;
    try {
      const Model model = models_.wait(stop);
      if (!model) return;
      began = Clock::now();
      if (const auto reason = evaluate(model)) return control_.stop(*reason);
    } catch (...) {
      return control_.fail(std::current_exception());
    }
    const std::chrono::duration<double, std::nano> took = Clock::now() - began;
    const double rest = took.count() * (1 / wanted.share - 1);
    pause = std::max(wanted.every, std::chrono::nanoseconds(static_cast<std::int64_t>(rest)));
  }
}

template <typename Real>
std::optional<StopReason> Evaluator<Real>::evaluate(const Model& model) {
  const double before = options_.resume ? options_.resume->seconds : 0;
  const double now = std::chrono::duration<double>(Clock::now() - start_).count();
  const bool best = judge_.evaluate(*model, before + now);
  since_best_ = judge_.since_best();
  {
    const std::lock_guard lock(mutex_);
    news_.latest = judge_.evaluations().back();
    if (best) {
      news_.best = news_.latest;
      news_.best_model = model;
    }
  }
  return judge_.verdict();
}

template class Evaluator<float>;
template class Evaluator<double>;

}  // namespace dasgd
