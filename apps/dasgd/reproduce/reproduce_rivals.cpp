#include <algorithm>

#include "dasgd/lab/experiments/rival_numbers.hpp"
#include "reproduce/reproduce.hpp"
#include "terminal/output.hpp"

namespace dasgd::app {

void reproduce_rivals(const Experiment& experiment) {
  make_directory(experiment.directory);
  const auto numbers = repeat_published_numbers(experiment.quick);
  write_files(experiment, to_csv(numbers), to_json(numbers), to_svg(numbers));
  std::string source;
  for (const PublishedNumber& n : numbers) {
    if (n.source != source) print_result("{}\n", n.source);
    source = n.source;
    if (n.here)
      print_result("  {:60} {:>9.4g} published, {:>9.4g} here  {} {:g} %; {}\n", n.setting,
                   n.published, *n.here, n.agrees() ? "within" : "NOT within", 100 * n.tolerance,
                   n.note);
    else
      print_result("  {:60} {:>10.4g} published; not repeated: {}\n", n.setting, n.published,
                   n.note);
  }
  const auto repeated =
      std::count_if(numbers.begin(), numbers.end(), [](auto& n) { return n.here.has_value(); });
  const auto agree =
      std::count_if(numbers.begin(), numbers.end(), [](auto& n) { return n.agrees(); });
  print_result("{} of {} that were repeated are within their tolerance; {}.csv, .json, .svg\n",
               agree, repeated, experiment.stem());
}

}  // namespace dasgd::app
