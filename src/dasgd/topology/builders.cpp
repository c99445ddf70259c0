#include "dasgd/topology/builders.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <sstream>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/nearest_word.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/random/random.hpp"

namespace dasgd {
namespace {

std::optional<std::size_t> parse_count(std::string_view text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Graph full(std::size_t n) {
  Graph graph(n);
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b)
      if (a != b) graph.connect(worker_id(a), worker_id(b));
  return graph;
}

Graph directed_ring(std::size_t n) {
  Graph graph(n);
  for (std::size_t i = 0; n > 1 && i < n; ++i) graph.connect(worker_id(i), worker_id((i + 1) % n));
  return graph;
}

Graph ring(std::size_t n) {
  Graph graph(n);
  for (std::size_t i = 0; n > 1 && i < n; ++i)
    graph.connect_both(worker_id(i), worker_id((i + 1) % n));
  return graph;
}

Graph star(std::size_t n) {
  Graph graph(n);
  for (std::size_t i = 1; i < n; ++i) graph.connect_both(worker_id(0), worker_id(i));
  return graph;
}

// Worker 0 is the root, and i the parent of K i + 1 to K i + K.
Graph tree(const std::string& parameter, std::size_t n) {
  const auto children = parse_count(parameter);
  if (!children || *children == 0)
    throw InputError("topology tree:" + parameter +
                     " has no number of children; write it like tree:4");
  Graph graph(n);
  for (std::size_t i = 1; i < n; ++i)
    graph.connect_both(worker_id(i), worker_id((i - 1) / *children));
  return graph;
}

struct Size {
  std::size_t rows, columns;
};

std::optional<Size> parse_size(std::string_view text) {
  const auto cross = text.find('x');
  if (cross == text.npos) return std::nullopt;
  const auto rows = parse_count(text.substr(0, cross));
  const auto columns = parse_count(text.substr(cross + 1));
  if (!rows || !columns || *rows == 0 || *columns == 0) return std::nullopt;
  return Size{*rows, *columns};
}

// Rows and columns of workers; `wraps`: the last of each is next to the first.
Graph grid(const std::string& name, const std::string& parameter, std::size_t n, bool wraps) {
  const auto size = parse_size(parameter);
  if (!size)
    throw InputError("topology " + name + ":" + parameter + " has no size; write it like " + name +
                     ":3x4");
  const auto [rows, columns] = *size;
  if (rows * columns != n)
    throw InputError("topology " + name + ":" + parameter + " has " +
                     std::to_string(rows * columns) + " places for " + std::to_string(n) +
                     " workers; make them equal");
  Graph graph(n);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t here = r * columns + c;
      const std::size_t right = r * columns + (c + 1) % columns;
      const std::size_t below = (r + 1) % rows * columns + c;
      if (right != here && (wraps || c + 1 < columns))
        graph.connect_both(worker_id(here), worker_id(right));
      if (below != here && (wraps || r + 1 < rows))
        graph.connect_both(worker_id(here), worker_id(below));
    }
  }
  return graph;
}

Graph torus(const std::string& parameter, std::size_t n) {
  return grid("torus", parameter, n, true);
}

Graph mesh(const std::string& parameter, std::size_t n) {
  return grid("mesh", parameter, n, false);
}

Graph exponential(std::size_t n) {
  Graph graph(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t hop = 1; hop < n; hop *= 2)
      graph.connect(worker_id(i), worker_id((i + hop) % n));
  return graph;
}

// Pairs stubs at random, keeping only pairs that make a simple graph; what is left over is shuffled
// and paired again (Steger and Wormald). Nothing when it got stuck.
std::optional<Graph> try_regular(std::size_t n, std::size_t degree, Random& random) {
  Graph graph(n);
  std::vector<WorkerId> stubs;
  for (std::size_t i = 0; i < n * degree; ++i) stubs.push_back(worker_id(i / degree));
  for (int fruitless = 0; !stubs.empty() && fruitless < 20;) {
    random.shuffle(stubs);
    std::vector<WorkerId> left;
    for (std::size_t i = 0; i + 1 < stubs.size(); i += 2) {
      const WorkerId a = stubs[i], b = stubs[i + 1];
      if (a != b && !graph.connected(a, b)) {
        graph.connect_both(a, b);
      } else {
        left.insert(left.end(), {a, b});
      }
    }
    fruitless = left.size() == stubs.size() ? fruitless + 1 : 0;
    stubs = std::move(left);
  }
  if (!stubs.empty()) return std::nullopt;
  return graph;
}

Graph complement(const Graph& graph) {
  Graph result(graph.workers());
  for (std::size_t a = 0; a < graph.workers(); ++a)
    for (std::size_t b = 0; b < graph.workers(); ++b)
      if (a != b && !graph.connected(worker_id(a), worker_id(b)))
        result.connect(worker_id(a), worker_id(b));
  return result;
}

Graph random_regular(const std::string& parameter, std::size_t n, std::uint64_t seed) {
  const auto degree = parse_count(parameter);
  const std::string name = "random-regular:" + parameter;
  if (!degree)
    throw InputError("topology " + name + " has no degree; write it like random-regular:4");
  if (*degree >= n || *degree * n % 2 != 0 || *degree == 0)
    throw InputError("topology " + name + " does not exist for " + std::to_string(n) +
                     " workers: the degree must be from 1 to n - 1 and n * degree even");
  const bool dense = *degree > (n - 1) / 2;  // then its complement is easier to draw
  for (std::uint32_t attempt = 0; attempt < 1000; ++attempt) {
    Random random(seed, Purpose::graph, attempt);
    auto graph = try_regular(n, dense ? n - 1 - *degree : *degree, random);
    if (graph && dense) graph = complement(*graph);
    if (!graph) continue;
    try {
      graph->require_connected(name);
      return *graph;
    } catch (const InputError&) {
      if (*degree == 1) throw;  // a perfect matching is connected only for n = 2
    }
  }
  throw InputError("topology " + name +
                   ": no connected graph found for this seed; raise the degree");
}

Graph from_file(const std::string& path, std::size_t n) {
  std::ifstream file = open_file(path);
  if (!file) throw InputError(path + ": cannot be opened; topology file:PATH needs an edge list");
  Graph graph(n);
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const auto fail = [&](const std::string& why) {
      throw InputError(path + ":" + std::to_string(number) + ": " + why);
    };
    line.erase(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    std::vector<std::string> parts;
    for (std::string word; words >> word;) parts.push_back(word);
    if (parts.empty()) continue;
    const bool one_way = parts.size() == 3 && parts[1] == "->";
    if (parts.size() != 2 && !one_way) fail("expected two workers, like \"0 1\" or \"0 -> 1\"");
    const auto a = parse_count(parts.front()), b = parse_count(parts.back());
    if (!a || !b) fail("workers are whole numbers from 0");
    if (*a >= n || *b >= n)
      fail("worker " + std::to_string(std::max(*a, *b)) + " does not exist; there are " +
           std::to_string(n) + ", numbered from 0");
    if (*a == *b) fail("worker " + std::to_string(*a) + " cannot be its own neighbour");
    graph.connect(worker_id(*a), worker_id(*b));
    if (!one_way) graph.connect(worker_id(*b), worker_id(*a));
  }
  return graph;
}

struct Topology {
  std::string name;  // what follows its colon stands for a parameter
  std::function<Graph(const std::string& parameter, std::size_t n, std::uint64_t seed)> build;

  std::size_t parameter_at() const { return name.find(':') + 1; }  // 0: it has none
  bool takes(const std::string& spec) const {
    return parameter_at() ? spec.starts_with(name.substr(0, parameter_at())) : spec == name;
  }
};

const std::vector<Topology>& topologies() {
  const auto plain = [](Graph (*build)(std::size_t)) {
    return [build](const std::string&, std::size_t n, std::uint64_t) { return build(n); };
  };
  const auto of_text = [](Graph (*build)(const std::string&, std::size_t)) {
    return
        [build](const std::string& text, std::size_t n, std::uint64_t) { return build(text, n); };
  };
  static const std::vector<Topology> all{
      {"full", plain(full)},
      {"ring", plain(ring)},
      {"directed-ring", plain(directed_ring)},
      {"star", plain(star)},
      {"tree:K", of_text(tree)},
      {"torus:RxC", of_text(torus)},
      {"mesh:RxC", of_text(mesh)},
      {"exponential", plain(exponential)},
      {"random-regular:D", random_regular},
      {"file:PATH", of_text(from_file)},
  };
  return all;
}

const Topology& known_topology(const std::string& spec) {
  const auto at = std::find_if(topologies().begin(), topologies().end(),
                               [&](const Topology& topology) { return topology.takes(spec); });
  if (at == topologies().end())
    throw InputError("unknown topology \"" + spec + "\"" + suggestion(spec, topology_names()));
  return *at;
}

}  // namespace

void require_known_topology(const std::string& spec) { known_topology(spec); }

Graph build_graph(const std::string& spec, std::size_t workers, std::uint64_t seed) {
  const Topology& topology = known_topology(spec);
  Graph graph = topology.build(spec.substr(topology.parameter_at()), workers, seed);
  graph.require_connected(spec);
  return graph;
}

std::optional<std::size_t> workers_of(const std::string& spec) {
  if (!spec.starts_with("torus:") && !spec.starts_with("mesh:")) return std::nullopt;
  const auto size = parse_size(std::string_view(spec).substr(spec.find(':') + 1));
  if (!size) return std::nullopt;
  return size->rows * size->columns;
}

const std::vector<std::string>& topology_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Topology& topology : topologies()) all.push_back(topology.name);
    return all;
  }();
  return names;
}

}  // namespace dasgd
