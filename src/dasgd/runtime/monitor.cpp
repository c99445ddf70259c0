#include "dasgd/runtime/monitor.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "dasgd/theory/step_size.hpp"

namespace dasgd {
namespace {

double seconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

}  // namespace

template <typename Real>
Monitor<Real>::Monitor(const TrainOptions& options, const Loops& loops, Control& control,
                       const std::vector<Callback<Real>>& callbacks, Evaluator<Real>& evaluator,
                       std::optional<double> planned, RemoteWorkers* remote_workers)
    : options_(options),
      loops_(loops),
      control_(control),
      callbacks_(callbacks),
      evaluator_(evaluator),
      planned_(planned),
      remote_workers_(remote_workers) {
  if (options.resume) {
    before_.seconds = options.resume->seconds;
    before_.gradients = options.resume->gradients;
    before_.applications = options.resume->applications;
    before_.samples = options.resume->samples;
  }
  last_ = before_;
}

template <typename Real>
void Monitor<Real>::watch() {
  const std::stop_callback interrupted(options_.stop,
                                       [this] { control_.stop(StopReason::interrupted); });
  const std::stop_callback asked(options_.asked, [this] { control_.stop(StopReason::asked); });
  const auto end = time_limit();
  auto next_report = start_ + options_.report_every;
  while (!control_.wait_finished(loops_.size(),
                                 control_.stopping() ? next_report : std::min(next_report, end))) {
    const auto now = Clock::now();
    if (now >= end) control_.stop(StopReason::max_time);
    if (const auto failure = options_.trace ? options_.trace->failure() : nullptr)
      control_.fail(failure);
    if (now < next_report) continue;
    next_report = now + options_.report_every;
    report();
  }
  if (options_.smoothness && !warned_of_step_size_) check_step_size_at_end();
}

template <typename Real>
typename Monitor<Real>::Clock::time_point Monitor<Real>::time_limit() const {
  constexpr auto never = Clock::time_point::max();
  if (!options_.max_time) return never;
  const double left = seconds(*options_.max_time) - before_.seconds;
  // The clock may have run for years already: what is beyond all it counts is never.
  if (left >= seconds(never - start_)) return never;
  return start_ + std::chrono::duration_cast<Clock::duration>(
                      std::chrono::duration<double>(std::max(left, 0.0)));
}

template <typename Real>
void Monitor<Real>::report() {
  const Progress<Real> progress = poll();
  for (const Callback<Real>& callback : callbacks_)
    if (callback(progress) == Flow::stop) control_.stop(StopReason::callback);
  check_stall(progress.applications);
  check_step_size(progress);
}

template <typename Real>
std::vector<WorkerView> Monitor<Real>::views() {
  std::vector<WorkerView> all;
  for (const auto& loop : loops_) all.push_back(loop->view());
  if (!remote_workers_) return all;
  remote_workers_->report(all);
  for (const WorkerView& view : remote_workers_->views()) all.push_back(view);
  return all;
}

template <typename Real>
Progress<Real> Monitor<Real>::poll() {
  Progress<Real> now = before_;
  now.seconds = seconds(Clock::now() - start_) + before_.seconds;
  now.draining = true;
  std::optional<std::uint64_t> W = 0;
  FiguresOfWorkers all(now);
  double sum_S = 0;
  for (std::size_t worker = 0; const WorkerView& view : views()) {
    const WorkerFigures& figures = view.figures;
    all.add(worker++, figures, view.inbox_depth);
    now.applications += view.applications;
    now.draining = now.draining && figures.out_of_samples;
    W = W && figures.W ? std::optional(std::max(*W, *figures.W)) : std::nullopt;
    sum_S += static_cast<double>(figures.S.sum);
  }
  if (options_.smoothness && W) now.certified_eta = theory::certified_eta(*options_.smoothness, *W);
  const double passed = now.seconds - last_.seconds;
  now.gradients_per_second = static_cast<double>(now.gradients - last_.gradients) / passed;
  const auto applied = static_cast<double>(now.applications - last_.applications);
  now.S_now = applied > 0 ? (sum_S - last_sum_S_) / applied : 0;
  if (planned_)
    now.done = std::min(1.0, static_cast<double>(now.gradients) / std::max(1.0, *planned_));
  if (options_.max_time)
    now.done = std::max(now.done.value_or(0), now.seconds / seconds(*options_.max_time));
  if (now.done && *now.done > 0)
    now.seconds_left = std::max(0.0, now.seconds / *now.done - now.seconds);
  if (const auto arrivals = evaluator_.arrivals()) {
    now.arrived = arrivals->arrived;
    now.prequential = arrivals->prequential;
  }
  if (!callbacks_.empty()) {
    now.model = [this] { return look_at_model(); };
    add_evaluation(now);
  }
  last_sum_S_ = sum_S;
  last_ = now;
  return now;
}

template <typename Real>
std::span<const Real> Monitor<Real>::look_at_model() {
  ModelBoard<Real>& models = loops_.front()->models();
  models.ask();
  model_ = models.latest();
  return model_ ? std::span<const Real>(*model_) : std::span<const Real>();
}

template <typename Real>
void Monitor<Real>::add_evaluation(Progress<Real>& now) {
  news_ = evaluator_.take_news();
  if (news_.latest) {
    evaluation_ = news_.latest;
    now.accuracy = news_.latest->accuracy;
    now.eval_loss = news_.latest->loss;
  }
  now.evaluation = evaluation_;
  now.evaluated = news_.latest.has_value();
  now.best = news_.best;
  if (news_.best_model) now.best_model = *news_.best_model;
}

template <typename Real>
void Monitor<Real>::check_stall(std::uint64_t applications) {
  const auto now = Clock::now();
  if (applications != stalled_at_) {
    stalled_at_ = applications;
    moved_ = now;
    drought_reported_ = false;
  }
  if (now - moved_ < options_.stall_after || !options_.warn) return;
  if (all_sources_are_dry()) {  // no stall: one line, and then patience
    if (!std::exchange(drought_reported_, true))
      options_.warn(fmt::format("no sample for {:.0f} s; workers continue with the next one",
                                seconds(now - moved_)));
    return;
  }
  options_.warn(
      fmt::format("no progress for {:.0f} s: {}", seconds(now - moved_), whom_it_waits_for()));
  moved_ = now;
}

template <typename Real>
void Monitor<Real>::check_step_size(const Progress<Real>& progress) {
  const bool crossed =
      progress.certified_eta && options_.rule.is_plain() && options_.eta > *progress.certified_eta;
  if (!crossed || !options_.warn || std::exchange(warned_of_step_size_, true)) return;
  options_.warn(
      fmt::format("step size {:.4g} is above {:.4g}, the largest that is certified, without noise, "
                  "for the staleness so far (S_avg {:.1f}, S_max {}); this alone is no error: "
                  "only this proof does not cover the run; see: dasgd advise",
                  options_.eta, *progress.certified_eta, progress.S_avg, progress.S_max));
}

template <typename Real>
void Monitor<Real>::check_step_size_at_end() {
  Progress<Real> end;
  FiguresOfWorkers all(end);
  std::optional<std::uint64_t> W = 0;
  for (const auto& loop : loops_) {
    const WorkerFigures figures = loop->view().figures;
    all.add(0, figures, 0);
    W = W && figures.W ? std::optional(std::max(*W, *figures.W)) : std::nullopt;
  }
  if (W) end.certified_eta = theory::certified_eta(*options_.smoothness, *W);
  check_step_size(end);
}

template <typename Real>
bool Monitor<Real>::all_sources_are_dry() {
  bool dry = false;
  for (const WorkerView& view : views()) {
    if (view.figures.out_of_samples) continue;
    if (!view.without_sample) return false;
    dry = true;
  }
  return dry;
}

template <typename Real>
std::string Monitor<Real>::whom_it_waits_for() {
  std::string text;
  const auto say = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  for (const WorkerView& view : views()) {
    if (view.figures.finished) continue;
    if (view.without_sample) {
      say(fmt::format("worker {}, whose source has no sample", index(view.worker)));
    } else if (!view.figures.out_of_samples) {
      say(fmt::format("worker {}, which computes its gradient {}", index(view.worker),
                      view.computed));
    } else if (view.announced_total) {
      say(fmt::format("worker {}, which has applied {} of {}", index(view.worker),
                      view.applications, *view.announced_total));
    }
  }
  return text.empty() ? "deadlock: all workers are waiting" : "waiting for " + text;
}

template class Monitor<float>;
template class Monitor<double>;

}  // namespace dasgd
