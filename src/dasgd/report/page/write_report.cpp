#include "dasgd/report/page/write_report.hpp"

#include <algorithm>
#include <filesystem>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/report/charts/charts.hpp"
#include "dasgd/report/charts/sweep_figures.hpp"
#include "dasgd/report/chrome_trace.hpp"

namespace dasgd::report {
namespace fs = std::filesystem;
namespace {

// Charts of an earlier report would be taken for those of this one.
void empty_charts(const std::string& directory) {
  fs::create_directories(directory);
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".svg") fs::remove(entry.path());
}

}  // namespace

std::vector<std::string> write_report(const std::vector<std::string>& directories,
                                      const std::string& directory, std::string_view page,
                                      const std::function<void(const std::string&)>& warn) {
  // One page holds so much, however many runs share it.
  DigestLimits limits;
  limits.bars = limits.ticks = std::max<std::size_t>(2'000, limits.bars / directories.size());
  ChromeTrace chrome(directory + "/trace.chrome.json");
  std::vector<Run> runs;
  for (const std::string& path : directories) {
    chrome.begin_run(path);
    runs.push_back(read_run(path, limits, [&](const TraceLine& line) { chrome.add(line); }));
  }
  for (const Run& run : runs)
    for (const std::string& text : run.damaged)
      if (warn) warn(run.path + "/" + text);
  label_by_difference(runs);
  std::vector<std::string> written;
  if (!page.empty()) {
    written.push_back(directory + "/report.html");
    write_file(written.back(), fill_page(page, page_data(runs)));
  }
  empty_charts(directory + "/charts");
  for (const Chart& chart : charts(runs)) {
    written.push_back(directory + "/charts/" + chart.file);
    write_file(written.back(), chart.svg);
  }
  if (chrome.finish()) written.push_back(directory + "/trace.chrome.json");
  return written;
}

std::vector<std::string> write_sweep_report(const std::string& sweep, const std::string& directory,
                                            std::string_view page) {
  constexpr std::size_t columns = 3;
  SweepFigures figures = sweep_figures(read_sweep(sweep), sweep);
  FiguresPage shown{figures.title, figures.subtitle, {}, std::move(figures.table)};
  std::vector<std::string> written;
  if (!page.empty()) written.push_back(directory + "/report.html");
  empty_charts(directory + "/charts");
  for (const SweepFigure& figure : figures.figures) {
    written.push_back(directory + "/charts/" + figure.file + ".svg");
    write_file(written.back(), plot_svg(figure.panels, columns));
    shown.figures.push_back({figure.title, figure.caption, {}});
    for (const PlotPanel& panel : figure.panels)
      shown.figures.back().panels.push_back(plot_svg({panel}));
  }
  write_figures(shown, directory, page);
  return written;
}

void write_figures(const FiguresPage& figures, const std::string& directory, std::string_view page,
                   const std::string& name) {
  if (!page.empty()) write_file(directory + "/" + name, fill_page(page, page_data(figures)));
}

}  // namespace dasgd::report
