#include "dasgd/lab/referee/page/result_files.hpp"

#include <filesystem>
#include <utility>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/lab/referee/page/first_rounds.hpp"
#include "dasgd/lab/referee/page/pictures.hpp"
#include "dasgd/lab/referee/records.hpp"
#include "dasgd/report/page/write_report.hpp"

namespace dasgd {
namespace {

std::vector<ContestRow> predictions(std::vector<ContestRow> rows) {
  for (ContestRow& row : rows) row.runs = std::move(row.predicted);
  return rows;
}

template <typename Real>
ComparePicture rounds_picture(const Objective<Real>& objective, const Contest& contest,
                              const std::vector<JudgedWorld>& worlds) {
  ComparePicture picture{"rounds", "The first rounds",
                         "A line per worker: all of them, or the first seven and the last. A bar "
                         "per gradient in the colour of its method, pale where it was wasted; "
                         "where there is no bar, a worker waits, or computes a gradient that ends "
                         "after the picture does."};
  for (std::size_t w = 0; w < worlds.size(); ++w)
    picture.drawings.emplace_back(
        [title = worlds[w].name, workers = contest.worlds[w].options.workers,
         rounds = first_rounds(objective, contest, contest.worlds[w], worlds[w], drawn(worlds[w]))](
            double width) { return time_lines(title, rounds, workers, width); });
  return picture;
}

}  // namespace

template <typename Real>
void write_results(const std::string& directory, const Objective<Real>& objective,
                   const Contest& contest, const std::vector<ContestRow>& rows,
                   const std::vector<JudgedWorld>& worlds, const ResultOptions& options,
                   WriteAll& write) {
  const auto keep = [&](const std::string& name, const std::string& text) {
    write(name, [&] { write_file(directory + "/" + name, text); });
  };
  keep("compare.csv", runs_csv(rows));
  keep("curves.csv", curves_csv(rows));
  if (contest.engine != ContestEngine::sim) keep("predicted.csv", runs_csv(predictions(rows)));
  keep("compare.json", results_json(contest, worlds).dump(2) + "\n");
  std::vector<ComparePicture> pictures = pictures_of(contest, worlds);
  pictures.push_back(rounds_picture(objective, contest, worlds));
  for (const ComparePicture& picture : pictures)
    for (const auto& [name, svg] : files_of(picture)) keep(name, svg);
  if (!options.paper.empty()) {
    std::filesystem::create_directories(options.paper);
    for (const PaperFile& file :
         paper_files(options.paper_options, contest, worlds, pictures, options.facts))
      write(file.first, [&] { write_file(options.paper + "/" + file.first, file.second); });
    if (const std::string settings = directory + "/config.toml"; std::filesystem::exists(settings))
      write("config.toml", [&] {
        std::filesystem::copy_file(settings, options.paper + "/config.toml",
                                   std::filesystem::copy_options::overwrite_existing);
      });
  }
  if (!options.page) return;
  write("compare.html", [&] {
    report::write_figures(compare_page(contest, worlds, pictures, options.facts), directory,
                          report::built_page(), "compare.html");
  });
}

template void write_results(const std::string&, const Objective<float>&, const Contest&,
                            const std::vector<ContestRow>&, const std::vector<JudgedWorld>&,
                            const ResultOptions&, WriteAll&);
template void write_results(const std::string&, const Objective<double>&, const Contest&,
                            const std::vector<ContestRow>&, const std::vector<JudgedWorld>&,
                            const ResultOptions&, WriteAll&);

}  // namespace dasgd
