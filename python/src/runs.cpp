#include "runs.hpp"

#include <filesystem>
#include <optional>
#include <pybind11/stl.h>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "arguments.hpp"
#include "dasgd/advice/advice_json.hpp"
#include "dasgd/archive/directory_run.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/config/step_size.hpp"
#include "dasgd/record/trace/checked_run.hpp"
#include "dasgd/report/page/write_report.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/settings/tasks/simulation.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/settings/virtual_world.hpp"
#include "numbers.hpp"
#include "problem_of.hpp"
#include "waiting.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;
using config::Command;
using config::Config;

/// What Python sees of a finished run.
struct Finished {
  std::string summary;  // JSON
  std::string directory;
  Numbers model;
};

template <typename Real>
Finished finished(const TrainResult<Real>& result, const std::string& directory) {
  if (result.failure) std::rethrow_exception(result.failure);
  if (!result.summary.audit_is_clean())
    throw std::runtime_error("the audit failed; see summary.json in " + directory);
  return {to_json(result.summary), directory, own_numbers(std::span<const Real>(result.model))};
}

/// Calls `callback` with what a run looks like; what it throws ends the run and is thrown
/// afterwards.
class Listener {
 public:
  explicit Listener(py::object callback) : callback_(std::move(callback)) {}

  template <typename Real>
  std::vector<Callback<Real>> callbacks() {
    if (callback_.is_none()) return {};
    return {[this](const Progress<Real>& p) { return call(p); }};
  }
  void rethrow() {
    if (failure_) throw std::move(*failure_);
  }

 private:
  template <typename Real>
  Flow call(const Progress<Real>& p) {
    const py::gil_scoped_acquire acquire;
    if (failure_) return Flow::stop;
    try {
      py::dict now;
      now["seconds"] = p.seconds;
      now["gradients"] = p.gradients;
      now["samples"] = p.samples;
      now["loss"] = p.loss;
      now["done"] = p.done;
      now["seconds_left"] = p.seconds_left;
      if (p.evaluation) {
        now["accuracy"] = p.evaluation->accuracy;
        now["eval_loss"] = p.evaluation->loss;
      }
      const py::object answer = callback_(now);
      return answer.is(py::bool_(false)) ? Flow::stop : Flow::go_on;
    } catch (py::error_already_set& error) {
      failure_.emplace(std::move(error));
      return Flow::stop;
    }
  }

  py::object callback_;
  std::optional<py::error_already_set> failure_;
};

// What the directory of a run says about its subject.
struct Subject {
  std::string name;
  std::map<std::string, std::string> facts;
};

// A given objective is none of the models, and nobody else can open it.
Config shown(Config config, const py::object& objective) {
  if (objective.is_none()) return config;
  config.problem = {};
  config.problem.model = "python";
  return config;
}

Subject subject(const Config& config, const py::object& objective) {
  return {objective.is_none() ? config.problem.model : "objective",
          config::subject_of(shown(config, objective))};
}

// With the type of labels that were in memory, as numpy writes it: answers will have it.
std::string config_text(Command command, const Config& config) {
  std::string text = to_toml(command, config);
  const auto arrays = config.problem.arrays.find(config.problem.data);
  if (arrays == config.problem.arrays.end() || !arrays->second.labels) return text;
  const NpyHeader& labels = arrays->second.labels->header();
  return text + "# labels of dtype " + labels.kind + std::to_string(labels.size) + "\n";
}

/// Leaves, where it is stopped, before an earlier run makes room for this one.
template <typename Real>
std::optional<Advice> settle(Config& config, const Objective<Real>& f, const std::stop_source& stop,
                             const VirtualWorld* world = nullptr) {
  auto advice = settle_step_size(config, f, stop.get_token(), world);
  if (stop.stop_requested()) throw std::runtime_error("stopped before the run began");
  return advice;
}

Finished train(const py::dict& keywords, const py::object& objective,
               const py::object& on_progress) {
  const Config given = read_config(Command::train, keywords);
  const Problem problem = problem_of(given, objective);
  const Subject what = subject(given, objective);
  std::stop_source stop;
  Listener listener(on_progress);
  Finished result = std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& f) {
        std::string directory;
        const auto trained = without_gil(stop, [&] {
          Config config = given;
          const auto advice = settle(config, *f, stop);
          DirectoryRun<Real> run(*f, config.run,
                                 {.path = config.output.out,
                                  .name = what.name,
                                  .resume = !config.output.resume.empty(),
                                  .trace = config.output.trace,
                                  .report = !config.output.no_report,
                                  .facts = what.facts});
          directory = run.directory().path();
          if (advice) write_file(run.directory().file("advice.json"), to_json(*advice));
          write_file(run.directory().file("config.toml"),
                     config_text(Command::train, shown(config, objective)));
          TrainOptions options = config.run;
          options.stop = stop.get_token();
          return run.run(
              [&](const TrainOptions& all, const auto& callbacks) {
                return run_training<Real>(*f, all, callbacks);
              },
              options, listener.callbacks<Real>());
        });
        listener.rethrow();
        return finished(trained, directory);
      },
      problem);
  return result;
}

Finished simulate(const py::dict& keywords, const py::object& objective) {
  const Config given = read_config(Command::simulate, keywords);
  const VirtualWorld world = config::make_world(given, given.run.workers);
  const auto scenario = config::make_scenario(given, world);
  if (!scenario) validate(world, graph_of(given.run));
  const Problem problem = problem_of(given, objective);
  const Subject what = subject(given, objective);
  std::stop_source stop;
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& f) {
        std::string path;
        const auto simulated = without_gil(stop, [&] {
          Config config = given;
          const auto advice = settle(config, *f, stop, &world);
          const RunDirectory directory(config.output.out, what.name);
          path = directory.path();
          write_file(directory.file("config.toml"),
                     config_text(Command::simulate, shown(config, objective)));
          if (advice) write_file(directory.file("advice.json"), to_json(*advice));
          TrainOptions options = config.run;
          options.stop = stop.get_token();
          auto result = config::simulate_into<Real>(directory, config.output.trace, *f, options,
                                                    world, scenario);
          if (!config.output.no_report) report::write_report({path}, path);
          return result;
        });
        return finished(simulated, path);
      },
      problem);
}

std::string advise_json(const py::dict& keywords, const py::object& objective) {
  const Config config = read_config(Command::advise, keywords);
  const Problem problem = problem_of(config, objective);
  std::stop_source stop;
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& f) {
        return without_gil(stop, [&] {
          AdviceRequest request{.options = config.run};
          request.options.stop = stop.get_token();
          request.options.compute = {};
          request.keep_schedule = config.schedule_given;
          const bool here = config.run.workers <= std::max(1u, std::thread::hardware_concurrency());
          if (!here) request.world = config::make_world(config, 0);
          request.compute_is_given = false;
          return to_json(advise<Real>(*f, request));
        });
      },
      problem);
}

std::string check_json(const std::string& path, std::optional<double> eta,
                       std::optional<double> L) {
  const FreeGil free;
  return to_json(check_run({.path = path, .eta = eta, .L = L, .tolerance = {}}));
}

std::string report_page(const std::vector<std::string>& runs, const std::string& directory) {
  const FreeGil free;
  std::filesystem::create_directories(directory);
  return report::write_report(runs, directory).front();
}

}  // namespace

void add_runs(py::module_& module) {
  py::class_<Finished>(module, "Finished")
      .def_readonly("summary", &Finished::summary)
      .def_readonly("directory", &Finished::directory)
      .def_readonly("model", &Finished::model);
  module.def("train", &train, py::arg("keywords"), py::arg("objective"), py::arg("on_progress"));
  module.def("simulate", &simulate, py::arg("keywords"), py::arg("objective"));
  module.def("advise", &advise_json, py::arg("keywords"), py::arg("objective"));
  module.def("check", &check_json, py::arg("path"), py::arg("eta"), py::arg("L"));
  module.def("report", &report_page, py::arg("runs"), py::arg("directory"));
}

}  // namespace dasgd::python
