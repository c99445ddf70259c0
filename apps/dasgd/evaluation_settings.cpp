#include <fmt/format.h>

#include "dasgd/core/error.hpp"
#include "setting_groups.hpp"
#include "units.hpp"

namespace dasgd::app {

std::vector<Setting> evaluation_settings() {
  return {
      {"evaluation.every", "--eval-every", Setting::Kind::value, "T",
       "evaluate worker 0's model this often; 0 never (default: train 10s and at most a tenth of a "
       "core, simulate never)",
       [](Config& c, const std::string& v) { c.eval_every = parse_duration(v); },
       [](const Config& c) {
         const bool given = c.eval_every && c.eval_share == 1;
         return given ? std::optional(fmt::format("\"{}\"", show_duration(*c.eval_every)))
                      : std::nullopt;
       }},
      {"evaluation.patience", "--patience", Setting::Kind::value, "N",
       "stop after N evaluations without a new best",
       [](Config& c, const std::string& v) {
         c.patience = parse_whole(v, 1'000'000'000);
         if (*c.patience == 0) throw InputError("must be at least 1");
       },
       [](const Config& c) {
         return c.patience ? std::optional(std::to_string(*c.patience)) : std::nullopt;
       }},
      {"evaluation.target_accuracy", "--target-accuracy", Setting::Kind::value, "X",
       "stop once an evaluation finds this accuracy",
       [](Config& c, const std::string& v) {
         c.target_accuracy = parse_real(v);
         if (!(*c.target_accuracy > 0 && *c.target_accuracy <= 1))
           throw InputError("must be a number above 0 and at most 1");
       },
       [](const Config& c) {
         return c.target_accuracy ? std::optional(show_real(*c.target_accuracy)) : std::nullopt;
       }},
  };
}

}  // namespace dasgd::app
