#include "dasgd/archive/directory_run.hpp"

#include <fmt/ranges.h>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "dasgd/archive/result_files.hpp"
#include "dasgd/base/digest.hpp"
#include "dasgd/base/files/text_of_file.hpp"
#include "dasgd/base/input_error.hpp"
#include "dasgd/data/preprocessing.hpp"
#include "dasgd/record/checkpoints/checkpoint_directory.hpp"
#include "dasgd/report/page/write_report.hpp"
#include "dasgd/run/leg.hpp"
#include "dasgd/runtime/train.hpp"

namespace dasgd {
namespace {

// The names, or as many as a line holds and what distinguishes them from others.
std::string list_in_short(const std::vector<std::string>& names) {
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  constexpr std::size_t longest = 200;
  if (all.size() <= longest) return all;
  return fmt::format("{} names, {}", names.size(), digest_of(std::as_bytes(std::span(all))));
}

// Machines round differently.
std::vector<std::string> rounded(const std::vector<float>& numbers) {
  std::vector<std::string> texts;
  for (const float number : numbers) texts.push_back(fmt::format("{:.3g}", number));
  return texts;
}

// Whoever goes on with other columns or classes under the same numbers trains something else.
template <typename Real>
RunFacts facts_about(const Objective<Real>& objective, const TrainOptions& options,
                     const DirectoryOptions& where) {
  RunFacts facts = facts_of(options, objective.samples(), where.facts);
  const auto* const known = dynamic_cast<const Preprocessed*>(&objective);
  const auto* const raw = known ? known->preprocessing() : nullptr;
  if (!raw) return facts;
  if (!raw->columns.empty())
    facts["list of columns"] = list_in_short(raw->columns);
  else
    facts["label column"] = std::to_string(raw->label_at + 1);
  if (!raw->classes.empty()) facts["list of classes"] = list_in_short(raw->classes);
  facts["scaling"] = to_string(raw->scale) + std::string(raw->target ? ", also of answers" : "");
  if (!raw->mean.empty()) facts["list of means"] = list_in_short(rounded(raw->mean));
  facts["list of fill values"] = raw->fill.empty() ? "none" : list_in_short(rounded(raw->fill));
  if (raw->target)
    facts["scale of answers"] =
        fmt::format("mean {:.3g}, deviation {:.3g}", raw->target->mean, raw->target->deviation);
  return facts;
}

// Before anything is written: what cannot be resumed stays as it is.
template <typename Real>
std::optional<Checkpoint> find_start(const Objective<Real>& objective, TrainOptions options,
                                     const DirectoryOptions& where) {
  if (!where.resume) return std::nullopt;
  const RunFacts facts = facts_about(objective, options, where);
  auto found = find_checkpoint(where.path, facts, [&](const std::string& line) {
    if (options.warn) options.warn(line);
  });
  if (found && !are_judged_alike(found->facts, facts)) found->evaluations_since_best = 0;
  const Schedule& schedule = options.rule.schedule;
  if (found && options.warn && schedule.factor(static_cast<double>(found->gradients)) == 0)
    options.warn(fmt::format(
        "the schedule {} has ended: its step size is 0, and more gradients change nothing",
        to_string(schedule)));
  options.resume = found ? &*found : nullptr;
  require_runnable(options, objective);
  return found;
}

// `loss` stays what it was: that of mini-batches.
std::string last_metrics(const RunSummary& s, const RunFigures& of_loop) {
  RunFigures last;
  last.seconds = s.wall_seconds;
  last.gradients = s.gradients;
  last.applications = s.gradients * s.workers;
  last.samples = s.samples;
  last.gradients_per_second = static_cast<double>(s.gradients) / s.wall_seconds;
  last.loss = s.batch_loss;
  last.train_loss = s.loss;
  last.S_now = last.S_avg = s.staleness.S_avg;
  last.S_max = s.staleness.S_max;
  last.look_ahead = s.look_ahead;
  last.gradients_by_worker = s.gradients_by_worker;
  last.accuracy = of_loop.accuracy ? of_loop.accuracy : s.accuracy;
  last.eval_loss = of_loop.eval_loss ? of_loop.eval_loss : s.eval_loss;
  last.own = of_loop.own;
  if (s.arrivals) {
    last.arrived = s.arrivals->arrived;
    last.prequential = s.arrivals->prequential;
  }
  return metrics_line(last);
}

// Figures and evaluations in order of virtual time.
std::string metrics_of(const FigureLog& figures, const std::vector<Evaluation>& evaluations) {
  std::string lines;
  auto evaluation = evaluations.begin();
  const auto add_until = [&](double seconds) {
    for (; evaluation != evaluations.end() && evaluation->seconds <= seconds; ++evaluation)
      lines += to_json(*evaluation) + "\n";
  };
  for (const RunFigures& row : figures.rows()) {
    add_until(row.seconds);
    lines += metrics_line(row);
  }
  add_until(std::numeric_limits<double>::infinity());
  return lines;
}

// What model.npy, model.best.npy and, of networks, model.pt and model.best.pt take, and a summary
// with what it says of every worker.
template <typename Real>
ReservedRoom room_at_the_end(const RunDirectory& directory, const Objective<Real>& objective,
                             std::size_t workers) {
  constexpr std::uint64_t files = std::is_same_v<Real, float> ? 4 : 2;
  const std::uint64_t model = objective.dimension() * sizeof(Real) + (std::uint64_t{1} << 16);
  try {
    return ReservedRoom(directory.path(), files * model + 1024 * workers);
  } catch (const WriteError& error) {
    throw InputError(
        fmt::format("`output.out` {}, which model and summary need at the end; free some or choose "
                    "another directory",
                    error.what()));
  }
}

constexpr std::size_t most_unwritten = std::size_t{1} << 16;
constexpr const char* goes_on = "the run continues without it";

template <typename Real>
void note_failure(const WriteAll& write, TrainResult<Real>& result) {
  try {
    write.conclude(result.failure);
  } catch (...) {
    result.failure = std::current_exception();
  }
}

}  // namespace

template <typename Real>
DirectoryRun<Real>::DirectoryRun(const Objective<Real>& objective, const TrainOptions& options,
                                 DirectoryOptions where)
    : objective_(objective),
      where_(std::move(where)),
      start_(find_start(objective, options, where_)),
      directory_(start_ ? RunDirectory::reopen(where_.path, start_->legs.size() + 1)
                        : RunDirectory(where_.path, where_.name, where_.resume)),
      best_(directory_.path(),
            start_ && are_judged_alike(start_->facts, facts_about(objective, options, where_))),
      carried_(start_ ? carry_metrics(directory_.path(), start_->seconds) : ""),
      lost_(options.warn),
      room_(room_at_the_end(directory_, objective, options.workers)),
      metrics_(directory_.file("metrics.jsonl")) {
  metrics_.append(carried_);
  save_preprocessing(objective, directory_);
  if (where_.trace)
    trace_.emplace(directory_.file("trace.jsonl"), options.workers,
                   [this](const std::string& why) { lost_.add("trace.jsonl", why, goes_on); });
}

template <typename Real>
TrainResult<Real> DirectoryRun<Real>::run(const Engine& train, TrainOptions options,
                                          std::vector<Callback<Real>> callbacks) {
  options.trace = trace_ ? &*trace_ : nullptr;
  options.resume = start_ ? &*start_ : nullptr;
  options.evaluation.best = best_.known();
  CheckpointDirectory checkpoints(directory_.file("checkpoints"));
  if (options.checkpoint.every.count() > 0)
    options.checkpoint.save =
        [&, facts = facts_about(objective_, options, where_)](Checkpoint checkpoint) {
          checkpoint.facts = facts;
          checkpoints.save(checkpoint);
        };
  callbacks.insert(callbacks.begin(), [this](const Progress<Real>& p) { return keep(p); });
  auto result = train(options, callbacks);
  save(result);
  return result;
}

template <typename Real>
Flow DirectoryRun<Real>::keep(const Progress<Real>& progress) {
  unwritten_ += metrics_line(progress);
  try {
    metrics_.append(unwritten_);
    unwritten_.clear();
  } catch (const WriteError& error) {  // a trace that is given up may make room
    if (unwritten_.size() > most_unwritten) {
      lost_.add("lines of metrics.jsonl", error.what(),
                "the run continues, and skips lines until there is room");
      unwritten_.clear();
    }
  }
  if (progress.best)
    lost_.attempt("earlier best models", "the run continues, and writes the best model at its end",
                  [&] { best_.write<Real>(objective_, *progress.best, progress.best_model); });
  return Flow::go_on;
}

template <typename Real>
void DirectoryRun<Real>::save(TrainResult<Real>& result) {
  WriteAll write;
  if (trace_) trace_->drain();  // before there is room that is not its own
  room_.release();
  save_result(objective_, result, directory_, best_, write);
  write("metrics.jsonl", [&] {
    metrics_.append(unwritten_ + last_metrics(result.summary, last_));
    metrics_.commit();
  });
  written_ = result.summary;
  const auto& clocks = result.summary.clocks;
  if (trace_) trace_->finish(clocks ? to_trace_line(*clocks) : "");
  lost_.conclude(write);
  if (where_.report)
    write("the report", [&] { report::write_report({directory_.path()}, directory_.path()); });
  note_failure(write, result);
}

template <typename Real>
void DirectoryRun<Real>::add_last(const RunFigures& figures) {
  for (const auto& [name, value] : figures.own) last_.own[name] = value;
  if (figures.accuracy) last_.accuracy = figures.accuracy;
  if (figures.eval_loss) last_.eval_loss = figures.eval_loss;
  if (!written_) return;
  const std::string path = directory_.file("metrics.jsonl");
  std::string lines = text_of_file(path);
  lines.resize(lines.rfind('\n', lines.size() - 2) + 1);
  write_file(path, lines + last_metrics(*written_, last_));
  if (where_.report) report::write_report({directory_.path()}, directory_.path());
}

template <typename Real>
TrainResult<Real> train_into(const DirectoryOptions& where, const Objective<Real>& objective,
                             const TrainOptions& options,
                             const std::vector<Callback<Real>>& callbacks) {
  const auto on_threads = [&](const TrainOptions& all, const std::vector<Callback<Real>>& called) {
    return run_training<Real>(objective, all, called);
  };
  auto result = DirectoryRun<Real>(objective, options, where).run(on_threads, options, callbacks);
  if (result.failure) std::rethrow_exception(result.failure);
  return result;
}

template <typename Real>
TrainResult<Real> simulate_into(
    const RunDirectory& directory, bool with_trace, const Objective<Real>& objective,
    TrainOptions options, const std::function<Simulated<Real>(const TrainOptions&)>& simulate) {
  UnwrittenFiles lost(options.warn);
  ReservedRoom room = room_at_the_end(directory, objective, options.workers);
  std::optional<TraceWriter> trace;
  if (with_trace)
    options.trace = &trace.emplace(directory.file("trace.jsonl"), 1, [&](const std::string& why) {
      lost.add("trace.jsonl", why, goes_on);
    });
  FigureLog figures;
  options.figures = &figures;
  save_preprocessing(objective, directory);
  BestModel best(directory.path(), false);
  WriteAll write;
  Simulated<Real> simulated = simulate(options);
  TrainResult<Real>& result = simulated.result;
  if (trace) trace->drain();
  room.release();
  save_result(objective, result, directory, best, write);
  for (const auto& file : simulated.files)
    write(file.first, [&] { write_file(directory.file(file.first), file.second); });
  write("metrics.jsonl", [&] {
    write_file(directory.file("metrics.jsonl"), metrics_of(figures, result.evaluations));
  });
  if (trace) trace->finish();
  lost.conclude(write);
  note_failure(write, result);
  return std::move(result);
}

template class DirectoryRun<float>;
template class DirectoryRun<double>;
template TrainResult<float> train_into(const DirectoryOptions&, const Objective<float>&,
                                       const TrainOptions&, const std::vector<Callback<float>>&);
template TrainResult<double> train_into(const DirectoryOptions&, const Objective<double>&,
                                        const TrainOptions&, const std::vector<Callback<double>>&);
template TrainResult<float> simulate_into(
    const RunDirectory&, bool, const Objective<float>&, TrainOptions,
    const std::function<Simulated<float>(const TrainOptions&)>&);
template TrainResult<double> simulate_into(
    const RunDirectory&, bool, const Objective<double>&, TrainOptions,
    const std::function<Simulated<double>(const TrainOptions&)>&);

}  // namespace dasgd
