#include "commands/commands.hpp"
#include "commands/comparison_files.hpp"
#include "commands/output_directory.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/report/tables/export.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {

int export_command(const ExportRequest& request) {
  const std::string out = output_directory(request.paths, request.out, "runs/export");
  for (const std::string& path : request.paths) {
    if (!is_comparison(path)) continue;
    if (request.paths.size() > 1)
      throw InputError(path + ": is a comparison, whose tables are its own; export it alone");
    for (const std::string& file : export_comparison(path, out)) print_result("{}\n", file);
    return done;
  }
  const auto exported = report::export_runs(request.paths, out, !request.no_wall_time);
  if (exported.missing > 0)
    print_note("dasgd: {} of {} runs are not finished and not in the tables\n", exported.missing,
               exported.runs + exported.missing);
  for (const std::string& file : exported.files) print_result("{}\n", file);
  return done;
}

}  // namespace dasgd::app
