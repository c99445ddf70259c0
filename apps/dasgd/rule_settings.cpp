#include <fmt/format.h>
#include <functional>
#include <optional>
#include <string>

#include "dasgd/core/error.hpp"
#include "setting_groups.hpp"
#include "units.hpp"

namespace dasgd::app {
namespace {

// A number of the rule that may be left open.
Setting number(std::string key, std::string option, std::string help,
               std::optional<double> RuleOptions::*member) {
  return {"rule." + key,
          option,
          Setting::Kind::value,
          "X",
          help,
          [member](Config& c, const std::string& v) { c.rule.*member = parse_real(v); },
          [member](const Config& c) {
            const auto& value = c.rule.*member;
            return value ? std::optional(show_real(*value)) : std::nullopt;
          }};
}

// A number that is 0 unless it is given.
Setting number(std::string key, std::string option, std::string placeholder, std::string help,
               std::function<double&(RuleOptions&)> of) {
  return {"rule." + key,
          option,
          Setting::Kind::value,
          placeholder,
          help,
          [of](Config& c, const std::string& v) {
            of(c.rule) = parse_real(v);
            if (of(c.rule) < 0) throw InputError("must not be negative");
          },
          [of](const Config& c) {
            RuleOptions rule = c.rule;
            return std::optional(show_real(of(rule)));
          }};
}

}  // namespace

std::vector<Setting> rule_settings() {
  return {
      {"rule.kind", "--rule", Setting::Kind::value, "NAME",
       "what the origin makes of a gradient: sgd, momentum, nesterov or adam",
       [](Config& c, const std::string& v) { c.rule.kind = parse_rule(v); },
       [](const Config& c) {
         return std::optional(fmt::format("\"{}\"", to_string(c.rule.kind)));
       }},
      number("momentum", "--momentum", "mu of momentum and nesterov (default: 0.9)",
             &RuleOptions::momentum),
      number("beta1", "--beta1", "of adam: decay of the mean (default: 0.9)", &RuleOptions::beta1),
      number("beta2", "--beta2", "of adam: decay of the mean square (default: 0.999)",
             &RuleOptions::beta2),
      number("weight_decay", "--weight-decay", "X",
             "pull of the model towards zero: L2, decoupled with adam (AdamW)",
             [](RuleOptions& rule) -> double& { return rule.weight_decay; }),
      number("clip", "--clip", "scale gradients with a larger norm down to this norm",
             &RuleOptions::clip),
      {"rule.schedule", "--schedule", Setting::Kind::value, "KIND",
       "of the step size, in gradients of all workers together: constant, step:EVERY:FACTOR or "
       "cosine[:TOTAL[:FLOOR]]",
       [](Config& c, const std::string& v) { set_schedule(c.rule.schedule, v); },
       [](const Config& c) {
         return std::optional(fmt::format("\"{}\"", to_string(c.rule.schedule)));
       }},
      number("warmup", "--warmup", "N",
             "let the step size rise over the first N gradients of all workers together",
             [](RuleOptions& rule) -> double& { return rule.schedule.warmup; }),
  };
}

}  // namespace dasgd::app
