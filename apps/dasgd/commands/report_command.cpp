#include "commands/commands.hpp"
#include "commands/comparison_files.hpp"
#include "commands/output_directory.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/sweep.hpp"
#include "dasgd/report/charts/sweep_figures.hpp"
#include "dasgd/report/page/write_report.hpp"
#include "dasgd/report/text.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
int report_command(const ReportRequest& request) {
  if (request.text) {
    for (const std::string& run : request.runs)
      print_result_text(is_comparison(run) ? comparison_text(run)
                        : is_sweep(run)
                            ? report::to_text(report::sweep_figures(read_sweep(run), run))
                            : report::to_text(report::read_run(run)));
    return done;
  }
  const std::string directory = output_directory(request.runs, request.out, "runs/report");
  if (request.runs.size() > 1)
    for (const std::string& run : request.runs)
      if (is_sweep(run) || is_comparison(run))
        throw InputError(run + ": is a " + (is_sweep(run) ? "sweep" : "comparison") +
                         ", which has a report of its own");
  const std::string& first = request.runs.front();
  const auto written =
      is_comparison(first) ? comparison_report(first, directory)
      : is_sweep(first)
          ? report::write_sweep_report(first, directory)
          : report::write_report(request.runs, directory, report::built_page(),
                                 [](const std::string& line) { print_note("dasgd: {}\n", line); });
  if (report::built_page().empty())
    print_note("dasgd: no report.html: {}; charts are there\n", report::no_page);
  for (const std::string& file : written) print_result("{}\n", file);
  return done;
}

}  // namespace dasgd::app
