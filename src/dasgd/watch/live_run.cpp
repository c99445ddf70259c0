#include "dasgd/watch/live_run.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "dasgd/record/run_summary_json.hpp"
#include "dasgd/report/membership.hpp"
#include "dasgd/report/page/page.hpp"

namespace dasgd::watch {
using Json = nlohmann::ordered_json;
namespace {

constexpr std::size_t most_rows = 400;

report::DigestLimits live_limits() {
  return {.buckets = 256, .groups = 32, .rows = 32, .bars = 4'000, .ticks = 6'000, .latest = true};
}

Json number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

LiveRun::LiveRun(const std::string& directory, const std::string& config) {
  run_.path = directory;
  run_.name = std::filesystem::weakly_canonical(directory).filename().string();
  run_.label = run_.name;
  run_.config = report::flat_config(config);
  run_.metrics = report::MetricsSeries(most_rows);
}

void LiveRun::add(WorkerId, std::vector<TraceLine> lines, Nanoseconds) {
  const std::lock_guard lock(mutex_);
  const std::size_t room = most_pending - std::min(most_pending, pending_.size());
  const std::size_t fits = std::min(room, lines.size());
  left_out_ += lines.size() - fits;
  pending_.insert(pending_.end(), lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(fits));
}

void LiveRun::leave_out(std::uint64_t lines) {
  const std::lock_guard lock(mutex_);
  left_out_ += lines;
}

void LiveRun::digest_pending() {
  taken_.clear();
  std::uint64_t left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    taken_.swap(pending_);
    left_out = left_out_;
  }
  run_.notes.clear();
  if (left_out > 0)
    run_.notes.push_back(fmt::format(
        "{} applications came too fast for this page and are missing from its charts", left_out));
  if (taken_.empty()) return;
  if (!run_.trace) run_.trace.emplace(live_limits());
  for (const TraceLine& line : taken_) run_.trace->add(line);
}

void LiveRun::prepare(const std::string& line) {
  constexpr std::size_t most_lines = 20;
  standing_.state = "preparing";
  run_.notes.push_back(line);
  if (run_.notes.size() > most_lines) run_.notes.erase(run_.notes.begin());
}

void LiveRun::update(const RunFigures& figures, const LiveState& standing) {
  figures_ = figures;
  standing_ = standing;
  run_.metrics.add(figures);
  run_.members = report::read_membership(run_.path);
  digest_pending();
}

void LiveRun::end(const RunSummary& summary) {
  digest_pending();
  run_.members = report::read_membership(run_.path);
  standing_ = {.state = "ended"};
  run_.summary = summary_json(summary);
  run_.limits = report::limits_of(run_.summary);
  run_.ended = true;
}

std::string LiveRun::frame() const {
  const Json frame{{"live",
                    {{"state", standing_.state},
                     {"seconds", figures_.seconds},
                     {"done", number(standing_.done)},
                     {"seconds_left", number(standing_.seconds_left)}}},
                   {"run", report::to_json(run_)}};
  return frame.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string LiveRun::prometheus() const {
  std::string text;
  const auto head = [&](const char* name, const char* type, const char* help) {
    text += fmt::format("# HELP dasgd_{0} {1}\n# TYPE dasgd_{0} {2}\n", name, help, type);
  };
  const auto one = [&](const char* name, const char* type, const char* help, double value) {
    head(name, type, help);
    text += fmt::format("dasgd_{} {}\n", name, value);
  };
  const auto each = [&](const char* name, const char* type, const char* help, const auto& values) {
    if (values.empty()) return;
    head(name, type, help);
    for (std::size_t w = 0; w < values.size(); ++w)
      text += fmt::format("dasgd_{}{{worker=\"{}\"}} {}\n", name, w, values[w]);
  };
  const RunFigures& f = figures_;
  one("seconds_total", "counter", "Time since the start of the run.", f.seconds);
  one("gradients_total", "counter", "Gradients computed by all workers.",
      static_cast<double>(f.gradients));
  one("applications_total", "counter", "Iterations of all workers.",
      static_cast<double>(f.applications));
  one("samples_total", "counter", "Samples used by all workers.", static_cast<double>(f.samples));
  one("gradients_per_second", "gauge", "Gradients per second since the last report.",
      f.gradients_per_second);
  if (f.loss) one("loss", "gauge", "Mean of the workers' last 30 mini-batch losses.", *f.loss);
  one("staleness_now", "gauge", "Mean |S| since the last report.", f.S_now);
  one("staleness_average", "gauge", "S_avg so far (Definition 2).", f.S_avg);
  one("staleness_max", "gauge", "S_max so far.", static_cast<double>(f.S_max));
  one("inbox_depth_max", "gauge", "Gradients in the fullest inbox.",
      static_cast<double>(f.inbox_depth));
  one("folded_total", "counter", "Applications of a gradient as part of a bundle.",
      static_cast<double>(f.folded));
  one("waited_seconds_total", "counter",
      "Time in which workers could have computed and folded for others instead.", f.waited_seconds);
  each("worker_gradients_total", "counter", "Gradients computed by a worker.",
       f.gradients_by_worker);
  each("worker_inbox_depth", "gauge", "Gradients in the inbox of a worker.", f.inbox_by_worker);
  each("worker_waited_seconds_total", "counter", "The same time of a worker.", f.waited_by_worker);
  return text;
}

}  // namespace dasgd::watch
