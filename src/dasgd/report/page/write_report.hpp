// Reports on disk: the page, the charts and the time line export.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dasgd/report/page/built_page.hpp"
#include "dasgd/report/page/page.hpp"

namespace dasgd::report {

/// Reads the runs and writes report.html, charts/*.svg and, where there is a trace,
/// trace.chrome.json into `directory`. Without a page (a build without web/) report.html is left
/// out. Returns the files, the page first. `warn` hears of files of a run that are damaged and left
/// out. Throws InputError for what is not a run and WriteError for what cannot be written.
std::vector<std::string> write_report(const std::vector<std::string>& runs,
                                      const std::string& directory,
                                      std::string_view page = built_page(),
                                      const std::function<void(const std::string&)>& warn = {});

/// The same for a sweep: mean and deviation over seeds. Throws InputError while no run of it is
/// finished.
std::vector<std::string> write_sweep_report(const std::string& sweep, const std::string& directory,
                                            std::string_view page = built_page());

/// Writes report.html, or a page of another name, with the figures of an experiment.
void write_figures(const FiguresPage& figures, const std::string& directory,
                   std::string_view page = built_page(), const std::string& name = "report.html");

}  // namespace dasgd::report
