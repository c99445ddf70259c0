#include "comparing.hpp"

#include <pybind11/stl.h>
#include <stop_token>
#include <utility>

#include "arguments.hpp"
#include "dasgd/archive/directory_lock.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/referee/hold.hpp"
#include "dasgd/referee/page/result_files.hpp"
#include "dasgd/settings/tasks/comparison.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "problem_of.hpp"
#include "waiting.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;
using config::Command;

// From any thread. What goes wrong in showing does not end a comparison.
RunsSoFar told_by(const py::object& told) {
  if (told.is_none()) return [](std::size_t, std::size_t) {};
  return [&told](std::size_t done, std::size_t about) {
    const py::gil_scoped_acquire acquire;
    try {
      told(done, about);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("dasgd.compare");
    }
  };
}

// The results as JSON, and where the files are.
using Held = std::pair<std::string, std::string>;

template <typename Real>
Held hold(const config::Config& config, const Objective<Real>& objective, const RunsSoFar& told) {
  const Contest contest = config::make_contest(config, objective);
  notes_of(contest);  // refuses what cannot run, before anything is written
  const std::string directory = config::comparison_directory(config);
  const DirectoryLock lock(directory);
  Journal journal(directory + "/journal.jsonl", config::identity_of(config, contest));
  write_file(directory + "/config.toml", to_toml(Command::compare, config));
  const auto rows = hold_contest(objective, contest, journal, told);
  const auto worlds = judge_worlds(objective, contest, rows);
  WriteAll write;
  write_results(directory, objective, contest, rows, worlds,
                config::result_options(config, contest), write);
  write.conclude();
  return {results_json(contest, worlds).dump(), directory};
}

Held compare(const py::dict& keywords, const py::object& objective, const py::object& told) {
  config::Config config = read_config(Command::compare, keywords);
  config::chosen_rivals(config.compare);  // before data is read
  parse_contest_engine(config.compare.engine);
  const Problem problem = problem_of(config, objective);
  std::stop_source stop;
  config.run.stop = stop.get_token();
  const RunsSoFar so_far = told_by(told);
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& f) {
        return without_gil(stop, [&] { return hold<Real>(config, *f, so_far); });
      },
      problem);
}

}  // namespace

void add_compare(py::module_& module) {
  module.def("compare", &compare, py::arg("keywords"), py::arg("objective"), py::arg("told"));
}

}  // namespace dasgd::python
