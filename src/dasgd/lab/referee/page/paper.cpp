#include "dasgd/lab/referee/page/paper.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "dasgd/base/units.hpp"
#include "dasgd/lab/referee/row_medians.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/report/charts/pdf.hpp"
#include "dasgd/report/charts/svg_frame.hpp"

namespace dasgd {
namespace {

constexpr double points_per_mm = 72 / 25.4, letter_height = 12;

std::string in_latex(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("&%$#_{}").find(c) != std::string_view::npos) result += '\\';
    if (c == '~' || c == '^' || c == '\\')
      result += "\\char`\\" + std::string(1, c) + " ";
    else
      result += c;
  }
  return result;
}

std::string in_csv(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

struct PaperLine {
  std::string world, rival, seconds, low, high, ratio, verdict, gradients, megabytes, eta;
  bool best = false;
};

std::vector<PaperLine> lines_of(const Contest& contest, const std::vector<JudgedWorld>& worlds) {
  std::vector<PaperLine> lines;
  for (const JudgedWorld& world : worlds)
    for (std::size_t k = 0; k < world.rows.size(); ++k) {
      const ContestRow& row = world.rows[k];
      const Judgement& j = world.judgements[k];
      const bool reached = std::isfinite(j.median);
      lines.push_back(
          {world.name, label_of(row, contest), reached ? fmt::format("{:.3g}", j.median) : "",
           reached ? fmt::format("{:.3g}", j.interval.low) : "",
           reached ? fmt::format("{:.3g}", j.interval.high) : "",
           j.reference ? "1"
           : j.ratio   ? fmt::format("{:.2f}", *j.ratio)
                       : "",
           j.reference ? "reference" : j.verdict,
           fmt::format("{:.0f}", median_over(row, [](auto& r) { return r.gradients_used; })),
           fmt::format("{:.3g}",
                       1e-6 * median_over(row, [](auto& r) { return r.bytes_busiest_node; })),
           show_real(row.eta), row.rival == world.verdict.winner && world.verdict.shown});
    }
  return lines;
}

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string fact(const Facts& facts, const std::string& name) {
  const auto at = std::ranges::find(facts, name, &Facts::value_type::first);
  return at == facts.end() ? "" : at->second;
}

std::string latex_table(const Contest& contest, const std::vector<PaperLine>& lines,
                        const Facts& facts) {
  const std::string data = fact(facts, "data");
  std::string text = fmt::format(
      "% needs \\usepackage{{booktabs}}\n\\begin{{table}}\n\\centering\n"
      "\\caption{{Time to {} of {}{} with {} workers: median over {} seeds with its 95\\,\\% "
      "bootstrap interval, and against DASGD. Bold: the fastest of its world, where it is shown to "
      "be "
      "faster than the next.}}\n\\label{{tab:compare}}\n"
      "\\begin{{tabular}}{{llrlrrr}}\n\\toprule\n"
      "world & method & seconds & interval & ratio & gradients & MB of the busiest node \\\\\n",
      in_latex(for_people(contest.goal)), in_latex(fact(facts, "model")),
      data.empty() ? "" : " on " + in_latex(data), contest.worlds.front().options.workers,
      contest.seeds);
  std::string world;
  for (const PaperLine& line : lines) {
    if (line.world != world) text += "\\midrule\n";
    const std::string seconds = line.seconds.empty() ? "---" : line.seconds;
    text += fmt::format("{} & {} & {} & {} & {} & {} & {} \\\\\n",
                        line.world == world ? "" : in_latex(line.world), in_latex(line.rival),
                        line.best ? "\\textbf{" + seconds + "}" : seconds,
                        line.seconds.empty() ? "not reached" : line.low + "--" + line.high,
                        line.ratio.empty() ? "---" : line.ratio, line.gradients, line.megabytes);
    world = line.world;
  }
  return text + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

std::string csv_table(const std::vector<PaperLine>& lines) {
  std::string text = "world,method,seconds,low,high,ratio,verdict,gradients,MB_busiest,eta\n";
  for (const PaperLine& l : lines)
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{}\n", in_csv(l.world), in_csv(l.rival), l.seconds,
                    l.low, l.high, l.ratio, l.verdict, l.gradients, l.megabytes, l.eta);
  return text;
}

std::string record(const Contest& contest, const Facts& facts,
                   const std::vector<JudgedWorld>& worlds) {
  std::string text = "How this comparison was made.\n\n";
  for (const auto& [name, value] : facts) text += fmt::format("{}: {}\n", name, value);
  text += "settings: config.toml\n\n";
  const std::string year = fact(facts, "date").substr(0, 4);
  for (const JudgedWorld& world : worlds) text += world.verdict.sentence + "\n";
  return text +
         fmt::format(
             "\n@software{{dasgd,\n  title = {{dasgd: decentralized asynchronous stochastic "
             "gradient descent}},\n  version = {{{0}}},\n{3}  note = {{dasgd compare, {1} seeds "
             "from {2}; settings in config.toml}}\n}}\n",
             version(), contest.seeds, contest.seed,
             year.empty() ? "" : "  year = {" + year + "},\n");
}

}  // namespace

std::vector<PaperFile> paper_files(const PaperOptions& options, const Contest& contest,
                                   const std::vector<JudgedWorld>& worlds,
                                   const std::vector<ComparePicture>& pictures,
                                   const std::vector<std::pair<std::string, std::string>>& facts) {
  const double width = options.width_mm * points_per_mm * letter_height / options.font_pt;
  std::vector<PaperFile> files;
  // What needs more room than there is has smaller letters.
  const auto add = [&](const std::string& name, const std::string& svg) {
    files.emplace_back(name + ".svg", svg::resized(svg, options.width_mm));
    files.emplace_back(name + ".pdf", svg::to_pdf(svg, options.width_mm * points_per_mm /
                                                           svg::size_of(svg).first));
  };
  for (const ComparePicture& picture : pictures) {
    const std::size_t count = std::max(picture.panels.size(), picture.drawings.size());
    const auto name = [&](std::size_t k) {
      return count == 1 ? picture.file
                        : fmt::format("{}_{}", picture.file, static_cast<char>('a' + k % 26));
    };
    for (std::size_t k = 0; k < picture.panels.size(); ++k)
      add(name(k), plot_svg({picture.panels[k]}, 1, width));
    for (std::size_t k = 0; k < picture.drawings.size(); ++k)
      add(name(k), picture.drawings[k](width));
  }
  const std::vector<PaperLine> lines = lines_of(contest, worlds);
  files.emplace_back("table.tex", latex_table(contest, lines, facts));
  files.emplace_back("table.csv", csv_table(lines));
  files.emplace_back("record.txt", record(contest, facts, worlds));
  return files;
}

}  // namespace dasgd
