#include "dasgd/core/error.hpp"
#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/setting_kinds.hpp"

namespace dasgd::config {
namespace {

double parse_accuracy(const std::string& text) {
  const double value = parse_real(text);
  if (!(value > 0 && value <= 1)) throw InputError("must be a number above 0 and at most 1");
  return value;
}

std::string name_of_directory(const std::string& text) {
  if (text.empty()) throw InputError("names no directory");
  return text;
}

}  // namespace

std::vector<Setting> evaluation_settings() {
  return {
      {"evaluation.every", "--eval-every", Setting::Kind::value, "T",
       "evaluate worker 0's model on the validation part this often; 0: never (default: 10s and at "
       "most a tenth of a core with train, never with simulate)",
       [](Config& c, const std::string& v) {
         c.run.evaluation.every = parse_duration(v);
         c.run.evaluation.share = 1;
       },
       [](const Config& c) {
         return c.evaluation_was_given()
                    ? std::optional(quoted(show_duration(c.run.evaluation.every)))
                    : std::nullopt;
       }},
      count("evaluation.patience", "--patience", "stop after N evaluations without a new best",
            field(&Config::run, &TrainOptions::evaluation, &EvaluationOptions::patience), 1),
      place({"evaluation.target_accuracy", "--target-accuracy", "X",
             "stop once an evaluation finds this accuracy"},
            field(&Config::run, &TrainOptions::evaluation, &EvaluationOptions::target_accuracy),
            parse_accuracy, show_real),
      place({"evaluation.target_loss", "--target-eval-loss", "X",
             "stop once an evaluation finds a loss of at most this"},
            field(&Config::run, &TrainOptions::evaluation, &EvaluationOptions::target_loss),
            parse_real, show_real),
  };
}

std::vector<Setting> checkpoint_settings() {
  Setting resume = not_written(place(
      {"checkpoint.resume", "--resume", "DIR",
       "continue the run in this directory, from its last good checkpoint and with its config"},
      field(&Config::output, &OutputSettings::resume), name_of_directory, quoted));
  resume.in_files = false;  // the config of a run says what it is, not how it came about
  return {
      duration("checkpoint.every", "--checkpoint-every",
               "write a checkpoint this often and at the end; 0: none (default: 60s)",
               field(&Config::run, &TrainOptions::checkpoint, &CheckpointOptions::every)),
      resume,
  };
}

std::vector<Setting> output_settings() {
  return {
      // Not written: repeating a run must not replace it.
      not_written(
          place({"output.out", "--out", "DIR", "the run directory (default: runs/MODEL-TIME)"},
                field(&Config::output, &OutputSettings::out), name_of_directory, quoted)),
      flag("output.trace", "--trace",
           "write all applications to trace.jsonl, about 120 bytes for each (gradients x workers)",
           field(&Config::output, &OutputSettings::trace)),
      flag("output.no_report", "--no-report", "do not write report.html at the end",
           field(&Config::output, &OutputSettings::no_report)),
      flag("output.quiet", "--quiet", "print errors and warnings only",
           field(&Config::output, &OutputSettings::quiet)),
      flag("output.json", "--json", "print the summary as JSON",
           field(&Config::output, &OutputSettings::json)),
  };
}

}  // namespace dasgd::config
