#include <filesystem>
#include <fmt/format.h>

#include "commands/commands.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/report/text.hpp"
#include "dasgd/report/write_report.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {
namespace {

std::string directory_for(const ReportRequest& request) {
  if (request.out.empty() && request.runs.size() == 1) return request.runs.front();
  const std::string directory = request.out.empty() ? "runs/report" : request.out;
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    throw InputError("--out " + directory + ": cannot be made a directory: " + error.message());
  return directory;
}

}  // namespace

int report_command(const ReportRequest& request) {
  if (request.text) {
    for (const std::string& run : request.runs)
      print_result_text(report::to_text(report::read_run(run)));
    return done;
  }
  for (const std::string& run : request.runs)
    if (!std::filesystem::is_directory(run))
      throw InputError(run + ": is not a directory; dasgd report needs run directories");
  const auto written = report::write_report(request.runs, directory_for(request));
  if (report::built_page().empty())
    print_note("dasgd: no report.html: {}; charts are there\n", report::no_page);
  for (const std::string& file : written) print_result("{}\n", file);
  return done;
}

}  // namespace dasgd::app
