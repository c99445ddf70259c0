#include "commands/commands.hpp"
#include "commands/output_directory.hpp"
#include "dasgd/report/tables/export.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {

int export_command(const ExportRequest& request) {
  const auto exported = report::export_runs(
      request.paths, output_directory(request.paths, request.out, "runs/export"),
      !request.no_wall_time);
  if (exported.missing > 0)
    print_note("dasgd: {} of {} runs are not finished and not in the tables\n", exported.missing,
               exported.runs + exported.missing);
  for (const std::string& file : exported.files) print_result("{}\n", file);
  return done;
}

}  // namespace dasgd::app
