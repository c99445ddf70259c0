#include "soak/scenario.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <initializer_list>
#include <signal.h>
#include <utility>

#include "dasgd/random/random.hpp"

namespace dasgd::soak {
namespace {

constexpr std::uint64_t images = 90;  // of the data

class Author {
 public:
  Author(std::uint64_t seed, std::uint32_t number, std::string data, std::string directory)
      : random_(seed, Purpose::scenario, number),
        data_(std::move(data)),
        directory_(std::move(directory)) {}

  Scenario write() {
    scenario_.simulated = one_in(3);
    scenario_.trace = !one_in(3);
    scenario_.json = one_in(4);
    scenario_.repeat = scenario_.simulated && scenario_.trace && one_in(2);
    scenario_.workers = one_in(8) ? from(9, scenario_.simulated ? 40 : 16) : from(1, 8);
    scenario_.arguments = {scenario_.simulated ? "simulate" : "train"};
    graph();  // may want another number of workers
    add("--workers", scenario_.workers);
    model();
    rule();
    pace();
    chaos();
    output();
    scenario_.simulated ? budget_in_virtual_time() : blows_and_budget();
    return std::move(scenario_);
  }

 private:
  std::uint32_t from(std::uint32_t low, std::uint32_t high) {
    return low + random_.below(high - low + 1);
  }
  bool one_in(std::uint32_t n) { return random_.below(n) == 0; }
  template <typename Item>
  Item one_of(std::initializer_list<Item> items) {
    return items.begin()[random_.below(static_cast<std::uint32_t>(items.size()))];
  }
  std::uint32_t any_worker() { return random_.below(static_cast<std::uint32_t>(workers())); }
  std::size_t workers() const { return scenario_.workers; }

  template <typename Value>
  void add(const char* option, const Value& value) {
    scenario_.arguments.insert(scenario_.arguments.end(), {option, fmt::format("{}", value)});
  }
  void add(const char* flag) { scenario_.arguments.push_back(flag); }

  // A ring that goes one way, so that everybody is reached, and chords.
  std::string graph_file() {
    const std::string path = directory_ + "/graph.txt";
    std::ofstream file(path);
    for (std::size_t i = 0; i < workers(); ++i) file << i << " -> " << (i + 1) % workers() << "\n";
    for (std::uint32_t i = from(0, 6); i > 0; --i) {
      const std::uint32_t a = any_worker(), b = any_worker();
      if (a != b) file << a << (one_in(2) ? " " : " -> ") << b << "\n";
    }
    return "file:" + path;
  }

  void graph() {
    const auto kind = one_of({"full", "full", "ring", "directed-ring", "star", "exponential",
                              "torus", "random-regular", "file"});
    std::string name = kind;
    if (name == "torus") {
      const std::uint32_t rows = from(2, 3), columns = from(2, 4);
      scenario_.workers = rows * columns;
      name = fmt::format("torus:{}x{}", rows, columns);
    } else if (name == "random-regular") {
      scenario_.workers = 2 * from(2, 5);
      name = fmt::format("random-regular:{}", from(2, 3));
    } else if (name == "file") {
      scenario_.workers = std::max<std::size_t>(workers(), 2);
      name = graph_file();
    }
    full_ = name == "full";
    add("--topology", name);
    if (one_in(3)) add("--relay", full_ && one_in(2) ? "none" : one_of({"arrival", "apply"}));
    any_size_ = one_of({true, false}) && (full_ || name == "ring" || name == "star");
  }

  void model() {
    const std::string name = one_of({"quadratic", "logistic", "softmax", "softmax"});
    add("--model", name);
    add("--lr", "0.0005");
    add("--seed", from(0, 1000));
    images_ = name == "softmax";
    if (!images_) return;
    batch_ = one_of({1u, 2u, 5u, 9u});
    add("--data", data_);
    add("--batch", batch_);
    shards_ = one_in(4);
    if (shards_) add("--sampling", "shards");
  }

  void rule() {
    if (one_in(2)) add("--rule", one_of({"sgd", "momentum", "nesterov", "adam"}));
    if (one_in(6)) add("--clip", "1");
    if (one_in(6)) add("--weight-decay", "0.001");
    if (one_in(6)) add("--schedule", one_of({"step:100:0.9", "cosine:5000:0.1"}));
    if (one_in(6)) add("--warmup", "50");
    if (one_in(8)) add("--on-divergence", "halve");
    if (one_in(8)) add("--measure-gradients");
  }

  void pace() {
    if (one_in(2)) add("--in-flight", one_of({1, 2, 3, 16}));
    if (one_in(3)) {
      slow_ = one_of({2u, 10u, 50u});
      add("--slow", fmt::format("{}:{}", any_worker(), slow_));
      any_size_ = false;
    }
    if (!scenario_.simulated) return;
    if (one_in(2)) {
      const std::string compute =
          one_of({"1ms", "uniform:1ms:9ms", "lognormal:5ms:1", "exponential:3ms", "1us"});
      microseconds_ = compute == "1us";
      add("--compute", compute);
    }
    if (one_in(2)) add("--latency", one_of({"0s", "1ms", "uniform:10us:20ms", "exponential:5ms"}));
    if (one_in(4)) add("--bandwidth", one_of({"1e5", "1e8"}));
    if (one_in(4)) add("--apply", one_of({"0s", "1ms"}));
  }

  void chaos() {
    if (one_in(5)) add("--delay", one_of({"0.1:3ms", "0.5:500us", "0.01:50ms"}));
    if (one_in(6)) add("--reorder", one_of({"0.1", "0.6"}));
    if (one_in(6)) add("--duplicate", one_of({"0.1", "0.6"}));
    if (one_in(6)) add("--drop", one_of({"0.1", "0.5"}));
    for (int i = 0; i < 2 && one_in(4); ++i) {
      add("--pause", fmt::format("{}:{}ms:{}ms", any_worker(), from(0, 200), from(1, 300)));
      any_size_ = false;
    }
    if (workers() > 1 && one_in(6)) {
      std::string one, other;
      const std::uint32_t cut = from(1, static_cast<std::uint32_t>(workers()) - 1);
      for (std::size_t i = 0; i < workers(); ++i) {
        std::string& side = i < cut ? one : other;
        side += (side.empty() ? "" : ",") + std::to_string(i);
      }
      add("--partition", fmt::format("{}|{}:{}ms:{}ms", one, other, from(0, 200), from(1, 300)));
      any_size_ = false;
    }
  }

  void output() {
    if (scenario_.trace) add("--trace");
    add(scenario_.json ? "--json" : "--quiet");
    if (!one_in(6)) add("--no-report");
    if (one_in(4)) add("--eval-every", "20ms");
    if (!scenario_.simulated && one_in(8)) add("--watch=0");
  }

  // A slow worker is to take as long as others do.
  void spend(std::uint64_t of_a_fast_worker) {
    const std::uint64_t gradients_each = std::max<std::uint64_t>(1, of_a_fast_worker / slow_);
    const std::uint32_t way = from(0, images_ ? 3 : 2);
    if (way == 0) {
      add("--gradients", gradients_each);
      scenario_.gradients = gradients_each * workers();
      any_size_ = false;
    } else if (way == 1 && workers() <= 16) {
      std::string each;
      std::uint64_t total = 0;
      for (std::size_t i = 0; i < workers(); ++i) {
        const std::uint32_t count = from(0, static_cast<std::uint32_t>(2 * gradients_each));
        each += (each.empty() ? "" : ",") + std::to_string(count);
        total += count;
      }
      add("--gradients", each);
      scenario_.gradients = total;
      any_size_ = false;
    } else if (way == 3) {
      const std::uint64_t epochs = 1 + gradients_each * workers() * batch_ / images;
      add("--epochs", epochs);
      if (!shards_) scenario_.samples = epochs * images;  // the last batch of a shard is smaller
    } else {
      add("--total-gradients", gradients_each * workers());
      scenario_.gradients = gradients_each * workers();
    }
  }

  void budget_in_virtual_time() {
    if (!one_in(4)) return spend(from(1, 150));
    // In the shortest of compute times a worker makes as many gradients as in the others.
    add("--max-time", fmt::format("{}{}", from(1, 300), microseconds_ ? "us" : "ms"));
    scenario_.stop_reason = "max-time";
  }

  void blows_and_budget() {
    const std::uint32_t end = from(0, 5);
    // The check of a trace takes as long as its sets are large where gradients overtake each other.
    if (end <= 1 && scenario_.trace) add("--compute", "1ms");
    if (end == 0) {
      add("--max-time", fmt::format("{}ms", from(1, 600)));
      scenario_.stop_reason = "max-time";
    } else if (end == 1) {  // for good
      add("--max-time", "1h");
      scenario_.stop_reason = "interrupted";
      scenario_.blows.push_back(interruption());
    } else if (end <= 3) {
      add("--compute", "1ms");
      add("--checkpoint-every", one_of({"20ms", "60ms", "200ms"}));
      spend(from(200, 700));
      for (std::uint32_t i = from(1, 3); i > 0; --i)
        scenario_.blows.push_back(
            one_in(3) ? interruption()
                      : Blow{Blow::Kind::kill, SIGKILL, static_cast<int>(from(0, 700))});
      scenario_.resume_after_signal = true;
      if (any_size_) scenario_.when_resumed = {"--workers", std::to_string(from(1, 8))};
    } else {
      spend(from(1, 400));
    }
  }

  Blow interruption() {
    return {Blow::Kind::interrupt, one_of({SIGINT, SIGTERM}), static_cast<int>(from(0, 500))};
  }

  Random random_;
  const std::string data_, directory_;
  Scenario scenario_;
  bool full_ = false, images_ = false, shards_ = false;
  bool any_size_ = false;      // nothing names a worker: another number of them may go on
  bool microseconds_ = false;  // gradients take no longer
  std::uint64_t batch_ = 1;
  std::uint32_t slow_ = 1;
};

}  // namespace

Scenario draw_scenario(std::uint64_t seed, std::uint32_t number, const std::string& data,
                       const std::string& directory) {
  return Author(seed, number, data, directory).write();
}

}  // namespace dasgd::soak
