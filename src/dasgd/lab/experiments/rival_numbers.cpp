#include "dasgd/lab/experiments/rival_numbers.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dasgd/lab/experiments/parabola.hpp"
#include "dasgd/lab/experiments/tridiagonal_numbers.hpp"
#include "dasgd/lab/rivals/methods/all_rivals.hpp"
#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/report/charts/svg_plot.hpp"

namespace dasgd {
namespace {

VirtualWorld free_world(TimeModel compute) {
  VirtualWorld world;
  world.compute = std::move(compute);
  world.latency = TimeModel::constant(0);
  world.apply = 0;
  return world;
}

Nanoseconds of_seconds(double time) { return static_cast<Nanoseconds>(std::llround(time * 1e9)); }

PlayResult run(const std::string& rival, const TrainOptions& options, const VirtualWorld& world) {
  const Parabola parabola;
  return play<double>(parabola, choose_rival(rival, all_rivals()), options, world);
}

// Whether a rival with 40 workers comes nearer on f = x^2 / 2.
bool is_stable(double eta, const TimeModel& clocks, std::uint64_t gradients,
               const char* rival = "asgd") {
  const Parabola parabola;
  TrainOptions options{.workers = 40, .eta = eta, .total_gradients = gradients};
  double last = 0;
  const Observer<double> observer{1'000'000'000, [&](const Instant<double>& instant) {
                                    last = std::abs(instant.models[0][0]);
                                    return last > 1e6;
                                  }};
  play<double>(parabola, choose_rival(rival, all_rivals()), options, free_world(clocks), {},
               &observer);
  return last < 1;
}

double largest_stable_step(const TimeModel& clocks, std::uint64_t gradients,
                           const char* rival = "asgd") {
  double low = 0.01, high = 1;
  while (high / low > 1.003) {
    const double middle = std::sqrt(low * high);
    (is_stable(middle, clocks, gradients, rival) ? low : high) = middle;
  }
  return low;
}

void add_stable_steps(bool quick, std::vector<PublishedNumber>& numbers) {
  const std::uint64_t gradients = quick ? 40'000 : 400'000;
  constexpr Nanoseconds usual = 10'000'000;
  const std::string source =
      "largest stable eta L of server ASGD, n = 40, f = x^2 / 2 (computed elsewhere, not "
      "published)";
  const auto add = [&](const char* clocks, double known, const TimeModel& model, const char* note) {
    numbers.push_back({source, clocks, known, largest_stable_step(model, gradients), 0.1, note});
  };
  add("equal constant clocks", 0.0398, TimeModel::constant(usual), "theory: 2 sin(pi / 158)");
  add("lognormal, sigma 0.3", 0.0455, TimeModel::lognormal(usual, 0.3), "bisection");
  add("lognormal, sigma 0.5", 0.060, TimeModel::lognormal(usual, 0.5), "bisection");
  add("exponential", 0.28, TimeModel::exponential(usual), "bisection");
  numbers.push_back({"Mishchenko et al. 2022, notebook: the sum of 40 gradients, L = 0.25",
                     "its tuned step, against the largest that is stable", 0.19,
                     largest_stable_step(TimeModel::constant(usual), gradients, "minibatch") / 0.25,
                     0.06, "minibatch; 2 / (40 L) = 0.2"});
  // 0.43, the tuned step of Mishchenko's notebook, with its L = 0.25.
  for (const bool exponential : {false, true})
    numbers.push_back(
        {"Mishchenko et al. 2022, notebook: eta = 0.43, L = 0.25, 40 workers",
         exponential ? "stable (1) with exponential clocks" : "stable (0) with constant clocks",
         exponential ? 1.0 : 0.0,
         is_stable(0.43 * 0.25,
                   exponential ? TimeModel::exponential(usual) : TimeModel::constant(usual),
                   gradients)
             ? 1.0
             : 0.0,
         0, "0.108 lies between the two limits above"});
}

// Koloskova et al. 2022, Lemma 11: 10 clients at work, each drawn afresh from 900 fast, 100 slow.
// A round's time has a deviation of 24 s, so that 20,000 rounds give the mean to 0.4 %.
void add_clients(std::vector<PublishedNumber>& numbers) {
  constexpr std::uint64_t gradients = 200'000;
  const TimeModel clients = TimeModel::custom([](std::size_t, std::uint64_t, Random& random) {
    return of_seconds(random.uniform() < 0.9 ? 10 : 60);
  });
  const TrainOptions options{.workers = 10, .eta = 1e-3, .total_gradients = gradients};
  const double each = 10 / static_cast<double>(gradients);
  const std::string source = "Koloskova et al. 2022, Lemma 11: 900 clients of 10 s, 100 of 60 s";
  numbers.push_back({source, "asynchronous: seconds per gradient of a client", 15,
                     run("asgd", options, free_world(clients)).seconds * each, 0.02,
                     "asgd, 10 workers, times drawn"});
  numbers.push_back({source, "synchronous: seconds per round", 42.5,
                     run("minibatch", options, free_world(clients)).seconds * each, 0.02,
                     "minibatch; the exact mean is 42.57"});
}

// Lian et al. 2018, ResNet-20 on 16 workers, one of them slower: 18.03 s of computing an epoch.
void add_epochs(std::vector<PublishedNumber>& numbers) {
  constexpr double serial = 18.03, gradients = 391;  // batches of 128 in 50,000
  struct Line {
    double slower, pairs, all_reduce;
  };
  for (const Line line :
       {Line{1, 1.22, 1.47}, Line{2, 1.28, 2.6}, Line{10, 1.33, 11.5}, Line{100, 1.33, 100}}) {
    TrainOptions options{.workers = 16, .eta = 1e-3, .total_gradients = 391 * 32};
    options.slow = {{WorkerId{15}, line.slower}};
    VirtualWorld world = free_world(TimeModel::constant(of_seconds(serial / gradients)));
    const std::string setting = fmt::format("s per epoch, one of 16 workers {} times slower",
                                            static_cast<int>(line.slower));
    numbers.push_back(
        {"AD-PSGD (Lian et al. 2018)", setting, line.pairs,
         run("ad-psgd", options, world).seconds / 32, 0.12,
         "compute times only, 18.03 s serial: without its overhead it must come out lower"});
    // 0.34 s an epoch for 30 steps in each of 24.4 rounds, from the first number.
    world.latency = TimeModel::constant(of_seconds(0.34 / (gradients / 16) / 30));
    numbers.push_back({"all-reduce (Lian et al. 2018)", setting, line.all_reduce,
                       run("minibatch", options, world).seconds / 32, 0.15,
                       "latency fitted to the first of these four"});
  }
}

void add_phase(std::vector<PublishedNumber>& numbers) {
  TrainOptions options{.workers = 4, .eta = 1e-3, .total_gradients = 80};
  const VirtualWorld world = free_world(TimeModel::per_item(
      {of_seconds(0.58), of_seconds(0.75), of_seconds(1.51), of_seconds(3.33)}));
  numbers.push_back({"async DiLoCo toy (google-deepmind/asyncdiloco)",
                     "synchronous phase, H = 20, s per step 0.58, 0.75, 1.51, 3.33", 66.60,
                     run("local-sgd:H=20", options, world).seconds, 0, "local-sgd:H=20"});
}

void add_missing(std::vector<PublishedNumber>& numbers) {
  const auto add = [&](const char* source, const char* setting, double published, const char* why) {
    numbers.push_back({source, setting, published, std::nullopt, 0, why});
  };
  add("async DiLoCo toy (google-deepmind/asyncdiloco)", "800 steps, grace 0.5 s", 209.0,
      "there is no asynchronous DiLoCo with a grace period here");
  add("Birch SGD (2026), figures", "regimes in which its ranking of methods is shown", 4,
      "a ranking without numbers; its regimes are the worlds birch:1 to birch:4");
  add("SWIFT, 16-ring, ResNet-18", "s per epoch", 1.0,
      "by its authors' word the table leaves out the wait at the barrier, and gives no compute "
      "times to begin from");
  add("FedScale#197, FEMNIST", "s for 180 rounds of FedBuff", 18913,
      "it needs FEMNIST and the speeds of its clients");
}

}  // namespace

bool PublishedNumber::agrees() const {
  constexpr double rounding = 1e-9;
  return here && std::abs(*here - published) <= (tolerance + rounding) * std::abs(published);
}

std::vector<PublishedNumber> repeat_published_numbers(bool quick) {
  std::vector<PublishedNumber> numbers;
  add_stable_steps(quick, numbers);
  add_clients(numbers);
  add_epochs(numbers);
  add_phase(numbers);
  add_tuned_parameters(numbers);
  add_contributors(numbers);
  add_missing(numbers);
  return numbers;
}

std::string to_csv(const std::vector<PublishedNumber>& numbers) {
  std::string text = "source,setting,published,here,tolerance,agrees,known_to_differ,note\n";
  for (const PublishedNumber& n : numbers)
    text += fmt::format("\"{}\",\"{}\",{},{},{},{},{},\"{}\"\n", n.source, n.setting, n.published,
                        n.here ? fmt::format("{}", *n.here) : "", n.tolerance, n.agrees(),
                        n.differs, n.note);
  return text;
}

std::string to_json(const std::vector<PublishedNumber>& numbers) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const PublishedNumber& n : numbers)
    all.push_back({{"source", n.source},
                   {"setting", n.setting},
                   {"published", n.published},
                   {"here", n.here ? nlohmann::ordered_json(*n.here) : nullptr},
                   {"tolerance", n.tolerance},
                   {"agrees", n.agrees()},
                   {"known_to_differ", n.differs},
                   {"note", n.note}});
  return all.dump(2) + "\n";
}

std::string to_svg(const std::vector<PublishedNumber>& numbers) {
  PlotPanel panel{.title = "One of 16 workers is slower",
                  .x_label = "times slower",
                  .y_label = "seconds per epoch",
                  .log_x = true,
                  .log_y = true};
  for (const char* source : {"AD-PSGD (Lian et al. 2018)", "all-reduce (Lian et al. 2018)"}) {
    const std::size_t colour = panel.series.size() / 2;
    const std::string name = std::string(source).substr(0, std::string(source).find(" ("));
    PlotSeries published{.name = name + ", published", .look = PlotSeries::Look::dots};
    PlotSeries here{.name = name + ", here"};
    published.colour = here.colour = colour;
    const std::vector<double> slower{1, 2, 10, 100};
    for (const PublishedNumber& n : numbers) {
      if (n.source != source) continue;
      published.x.push_back(slower[published.x.size()]);
      published.y.push_back(n.published);
      here.x = published.x;
      here.y.push_back(n.here.value_or(0));
    }
    panel.series.push_back(published);
    panel.series.push_back(here);
  }
  return plot_svg({panel});
}

}  // namespace dasgd
