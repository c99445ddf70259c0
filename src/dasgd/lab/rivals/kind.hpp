// A rival by its name: what it is, what can be set, and how its participants are made.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "dasgd/base/input_error.hpp"
#include "dasgd/lab/rivals/rival.hpp"
#include "dasgd/topology/graph.hpp"

namespace dasgd {

/// A number that can be set, like B of rennala:B=8.
struct RivalParameter {
  std::string name, meaning;
  double usual;  ///< its author's default
  double least = 0, most = 1e9;
  bool whole = true;
  std::vector<std::string> words = {};  ///< its values by name, from 0 on
  double of_workers = 0;                ///< if not 0: 0 means this share of the workers
  bool tuned = false;                   ///< is tuned together with the step size unless it is given
  /// It is a text, which this reads; throws InputError for what it cannot be.
  std::function<void(const std::string&)> check = {};
  std::string example = {};  ///< such a text

  /// The number that `value` stands for.
  double meant(double value, std::size_t workers) const;
};

/// The numbers of one rival, every one of them set.
using RivalNumbers = std::map<std::string, double>;

/// What participants are made from.
template <typename Real>
struct RivalSetup {
  const Graph& graph;                    ///< its nodes are the workers
  double eta;                            ///< the weight of one gradient in the mean model
  std::vector<std::vector<Real>> start;  ///< one for all, or one for each worker
  RivalNumbers numbers;

  std::size_t workers() const { return graph.workers(); }
  const std::vector<Real>& start_of(std::size_t worker) const {
    return start[start.size() == 1 ? 0 : worker];
  }
  double number(const std::string& name) const { return numbers.at(name); }
  /// 0 for what this rival does not have, like a rule.
  std::size_t count(const std::string& name) const {
    const auto at = numbers.find(name);
    return at == numbers.end() ? 0 : static_cast<std::size_t>(at->second);
  }
};

/// A worker for each node of the graph: Worker(i, setup, more...).
template <template <typename> class Worker, typename Real, typename... More>
Participants<Real> one_per_node(const RivalSetup<Real>& setup, const More&... more) {
  Participants<Real> all;
  for (std::size_t i = 0; i < setup.workers(); ++i)
    all.push_back(std::make_unique<Worker<Real>>(i, setup, more...));
  return all;
}

struct RivalKind {
  std::string name, summary, exchanges;
  std::vector<RivalParameter> parameters;
  /// In which this implementation equals a known one, as tests show.
  std::vector<std::string> limits;
  /// Its workers need shared memory. `all` includes it only on real threads.
  bool shares_memory = false;
  bool all_reduces = false;  ///< its workers sum up vectors, all together, and nothing else
  bool linear = true;        ///< every model is x0 - eta * sum of c(g) g, so that
                             ///< staleness has a meaning
  std::function<Participants<float>(const RivalSetup<float>&)> make_float;
  std::function<Participants<double>(const RivalSetup<double>&)> make_double;
  /// What a person should know of this rival on this graph; empty: nothing. Throws InputError where
  /// it cannot run.
  std::function<std::string(const Graph&, const RivalNumbers&)> on_graph = {};
  /// What distinguishes the code of a custom rival from an earlier version; empty: it is dasgd's.
  std::string edition = {};

  /// Throws InputError where it has no participants for such numbers.
  template <typename Real>
  Participants<Real> make(RivalSetup<Real> setup) const {
    for (const RivalParameter& parameter : parameters)
      if (const auto at = setup.numbers.find(parameter.name); at != setup.numbers.end())
        at->second = parameter.meant(at->second, setup.workers());
    if constexpr (std::is_same_v<Real, float>)
      return made(make_float, setup, "float");
    else
      return made(make_double, setup, "double");
  }

 private:
  template <typename Real, typename Make>
  Participants<Real> made(const Make& make, const RivalSetup<Real>& setup, const char* type) const {
    if (!make) throw InputError(name + " has no make_" + type + ", and this problem needs one");
    return make(setup);
  }
};

/// The kind whose participants one generic function makes, of floats and of doubles.
template <typename Make>
RivalKind made_by(RivalKind kind, Make make) {
  kind.make_float = [make](const RivalSetup<float>& setup) { return make(setup); };
  kind.make_double = [make](const RivalSetup<double>& setup) { return make(setup); };
  return kind;
}

/// A rival with its numbers, as it was asked for: "rennala:B=8".
struct ChosenRival {
  std::string label;
  RivalKind kind;
  RivalNumbers numbers;
  std::map<std::string, std::string> texts = {};  ///< those of its parameters that were given
  std::string tuned = {};  ///< the number that tuning may change; empty: none, or it was given

  /// Every model is x0 - eta * sum of c(g) g.
  bool is_linear() const {
    const auto rule = numbers.find("rule");
    return kind.linear && (rule == numbers.end() || rule->second == 0);
  }
  const RivalParameter& parameter(const std::string& name) const;
  /// As it was asked for, and what tuning has changed: "rennala:B=4".
  std::string label_with(const RivalNumbers& chosen) const;
};

/// "NAME" or "NAME:P=X:Q=Y". Throws InputError, with a suggestion, for a name that is not in
/// `kinds`.
ChosenRival choose_rival(const std::string& text, const std::vector<RivalKind>& kinds);

}  // namespace dasgd
