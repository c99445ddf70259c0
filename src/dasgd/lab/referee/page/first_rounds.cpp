#include "dasgd/lab/referee/page/first_rounds.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "dasgd/lab/referee/contest/run_one.hpp"
#include "dasgd/lab/referee/page/curves.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/report/charts/svg_frame.hpp"
#include "dasgd/report/charts/svg_plot.hpp"
#include "dasgd/sim/simulate.hpp"

namespace dasgd {
namespace {

// In usual gradients.
constexpr Nanoseconds rounds_shown = 8;
// The first workers, and the last, which may be slow.
constexpr std::size_t most_workers_shown = 8;

/// Keeps the own gradients of a simulation.
class OwnGradients final : public TraceSink {
 public:
  explicit OwnGradients(std::size_t workers) : workers_(workers) {}
  void add(WorkerId, std::vector<TraceLine> lines, Nanoseconds) override {
    for (const TraceLine& line : lines)
      if (line.start)
        spans.push_back({index(line.worker), *line.start, line.time.value_or(*line.start), false});
  }
  std::size_t sources() const override { return workers_; }
  std::exception_ptr failure() const override { return nullptr; }

  std::vector<ComputedSpan> spans;

 private:
  const std::size_t workers_;
};

// What begins after the end of the picture is not in it, and what ends later is cut there.
std::vector<ComputedSpan> until(Nanoseconds end, const std::vector<ComputedSpan>& spans) {
  std::vector<ComputedSpan> seen;
  for (ComputedSpan span : spans) {
    if (span.begin >= end) continue;
    span.end = std::min(span.end, end);
    seen.push_back(span);
  }
  return seen;
}

const ChosenRival& rival_named(const Contest& contest, const std::string& label) {
  return *std::find_if(contest.rivals.begin(), contest.rivals.end(),
                       [&](const ChosenRival& rival) { return rival.label == label; });
}

}  // namespace

template <typename Real>
std::vector<FirstRounds> first_rounds(const Objective<Real>& objective, const Contest& contest,
                                      const ContestWorld& world, const JudgedWorld& judged,
                                      const std::vector<std::size_t>& rivals) {
  std::vector<FirstRounds> all;
  for (const std::size_t k : rivals) {
    ChosenRival rival = rival_named(contest, judged.rows[k].rival);
    rival.numbers = judged.rows[k].numbers;  // as tuning left them
    TrainOptions options = world.options;
    options.eta = judged.rows[k].eta;
    options.seed = contest.seed;
    // Long enough for the slowest to finish what it begins in the picture: only then it is
    // reported.
    const auto first_of = [&](std::size_t worker) {
      return world.world.compute.draw(contest.seed, Purpose::compute_time, worker, 0);
    };
    const Nanoseconds window = rounds_shown * first_of(0);
    Nanoseconds slowest = 0;
    for (std::size_t w = 0; w < options.workers; ++w)
      slowest = std::max(slowest, static_cast<Nanoseconds>(static_cast<double>(first_of(w)) *
                                                           slow_factor(options, worker_id(w))));
    options.max_time = std::chrono::nanoseconds(window + 2 * slowest);
    FirstRounds rounds{rival.label, k, {}};
    if (rival.kind.name == dasgd_rival) {
      OwnGradients kept(options.workers);
      options.trace = &kept;
      run_simulation(objective, options_of_dasgd(rival, options), world.world);
      rounds.spans = std::move(kept.spans);
    } else {
      play(objective, rival, options, world.world,
           {.preempt = contest.preempt, .spans = &rounds.spans});
    }
    rounds.spans = until(window, rounds.spans);
    all.push_back(std::move(rounds));
  }
  return all;
}

std::string time_lines(const std::string& title, const std::vector<FirstRounds>& all,
                       std::size_t workers, double width) {
  constexpr double line = 9, gap = 16, head = 34;
  double left = width > 0 ? 0 : 110;
  for (const FirstRounds& rounds : all) left = std::max(left, svg::width_of(rounds.rival) + 16);
  const double right =
      width > 0 ? std::max(left + 120, width - 16) : std::max(left + 240, usual_panel_width - 16);
  const std::size_t shown = std::min(workers, most_workers_shown);
  const auto place = [&](std::size_t worker) -> std::optional<std::size_t> {
    if (worker + 1 == workers) return shown - 1;
    return worker + 1 < shown ? std::optional(worker) : std::nullopt;
  };
  svg::Range times;
  times.add(0);
  for (const FirstRounds& rounds : all)
    for (const ComputedSpan& span : rounds.spans) times.add(static_cast<double>(span.end) * 1e-9);
  const double group = line * static_cast<double>(shown) + gap;
  const double bottom = head + group * static_cast<double>(all.size());
  const svg::Axis x(times, left, right);
  std::string out = svg::frame({left, head, right, bottom}, title, "seconds", "", x, nullptr);
  for (std::size_t r = 0; r < all.size(); ++r) {
    const double top = head + group * static_cast<double>(r);
    out += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", left - 8,
                       top + group / 2, svg::escape(all[r].rival));
    PlotSeries dressed;
    dress(dressed, all[r].place);
    for (const ComputedSpan& span : all[r].spans) {
      const auto row = place(span.worker);
      if (!row) continue;
      const double from = x.at(static_cast<double>(span.begin) * 1e-9),
                   to = x.at(static_cast<double>(span.end) * 1e-9);
      out += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"{} "
          "stroke=\"white\" stroke-width=\"0.6\"/>\n",
          from, top + line * static_cast<double>(*row), std::max(0.6, to - from), line - 2,
          svg::colours[*dressed.colour], span.wasted ? " opacity=\"0.35\"" : "");
    }
  }
  return svg::document(right + 16, bottom + 46, title, out);
}

template std::vector<FirstRounds> first_rounds(const Objective<float>&, const Contest&,
                                               const ContestWorld&, const JudgedWorld&,
                                               const std::vector<std::size_t>&);
template std::vector<FirstRounds> first_rounds(const Objective<double>&, const Contest&,
                                               const ContestWorld&, const JudgedWorld&,
                                               const std::vector<std::size_t>&);

}  // namespace dasgd
