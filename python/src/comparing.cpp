#include "comparing.hpp"

#include <fmt/format.h>
#include <memory>
#include <numeric>
#include <pybind11/stl.h>
#include <stop_token>
#include <utility>

#include "arguments.hpp"
#include "dasgd/archive/directory_lock.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/lab/comparison/comparison.hpp"
#include "dasgd/lab/referee/hold.hpp"
#include "dasgd/lab/referee/page/result_files.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "own_rival.hpp"
#include "problem_of.hpp"
#include "waiting.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;
using config::Command;

// From any thread. What goes wrong in showing does not end a comparison.
RunsSoFar progress_callback(const py::object& on_progress) {
  if (on_progress.is_none()) return [](std::size_t, std::size_t) {};
  return [&on_progress](std::size_t done, std::size_t about) {
    const py::gil_scoped_acquire acquire;
    try {
      on_progress(done, about);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("dasgd.compare");
    }
  };
}

// What distinguishes a given objective from another one: settings do not.
template <typename Real>
std::string fingerprint(const Objective<Real>& objective) {
  const std::vector<Real> start = objective.start();
  std::vector<Real> gradient(start.size());
  const double loss = objective.full_gradient(start, gradient);
  const double size = std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0);
  return fmt::format("objective: {} numbers, {} samples, loss {}, gradient {}\n", start.size(),
                     objective.samples(), loss, size);
}

// The results as JSON, and where the files are.
using Held = std::pair<std::string, std::string>;

template <typename Real>
Held hold(const config::Config& config, const Objective<Real>& objective, const std::string& given,
          std::vector<ChosenRival> rivals, const RunsSoFar& on_progress) {
  const Contest contest = config::make_contest(config, objective, std::move(rivals));
  notes_of(contest);  // refuses what cannot run, before anything is written
  const std::string directory = config::comparison_directory(config);
  const DirectoryLock lock(directory);
  Journal journal(directory + "/journal.jsonl", config::identity_of(config, contest) + given,
                  config::today());
  write_file(directory + "/config.toml", to_toml(Command::compare, config));
  const auto rows = hold_contest(objective, contest, journal, on_progress,
                                 perform_on_threads(objective, contest));
  const auto worlds = judge_worlds(objective, contest, rows);
  WriteAll write;
  write_results(directory, objective, contest, rows, worlds,
                config::result_options(config, contest, journal.date()), write);
  write.conclude();
  return {results_json(contest, worlds).dump(), directory};
}

Held compare(const py::dict& keywords, const py::object& objective, const py::object& on_progress,
             const py::list& own) {
  config::Config config = read_config(Command::compare, keywords);
  std::stop_source stop;
  const auto failure = std::make_shared<OwnFailure>(stop);
  const auto known = config::known_rivals(config.compare, own_rivals(own, failure));
  const auto rivals = config::chosen_rivals(config.compare, known);  // before data is read
  if (parse_contest_engine(config.compare.engine) == ContestEngine::mpi)
    throw InputError("`compare.engine` mpi: ranks are processes; mpirun starts dasgd compare");
  const Problem problem = problem_of(config, objective);
  const bool own_problem = !objective.is_none();
  if (own_problem && config.output.out.empty()) config.output.out = "runs/compare-objective";
  config.run.stop = stop.get_token();
  const RunsSoFar so_far = progress_callback(on_progress);
  try {
    return std::visit(
        [&]<typename Real>(const std::unique_ptr<Objective<Real>>& f) {
          return without_gil(stop, [&] {
            const std::string given = own_problem ? fingerprint(*f) : "";
            return hold<Real>(config, *f, given, rivals, so_far);
          });
        },
        problem);
  } catch (const ContestInterrupted&) {
    failure->rethrow();
    throw;
  }
}

}  // namespace

void add_compare(py::module_& module) {
  module.def("compare", &compare, py::arg("keywords"), py::arg("objective"), py::arg("on_progress"),
             py::arg("own"));
  add_rival_port(module);
}

}  // namespace dasgd::python
