#include "dasgd/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "dasgd/record/stop_words.hpp"

namespace dasgd::report {
using Json = nlohmann::ordered_json;
namespace {

constexpr std::size_t curve_width = 44;
constexpr std::size_t most_worker_rows = 16;
constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

std::string row(const std::string& name, const std::string& text) {
  return fmt::format("  {:<11}{}\n", name, text);
}

std::string count(double value) {
  std::string text = fmt::format("{:.0f}", value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

double real(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : no_number;
}

std::string curve(const std::string& name, const std::vector<double>& values) {
  const auto finite = [](double v) { return std::isfinite(v); };
  const auto first = std::find_if(values.begin(), values.end(), finite);
  const auto last = std::find_if(values.rbegin(), values.rend(), finite);
  if (first == values.end()) return "";
  double least = *first, most = *first;
  for (const double v : values)
    if (finite(v)) {
      least = std::min(least, v);
      most = std::max(most, v);
    }
  return row(name, fmt::format("{}  {:.4g} to {:.4g}, least {:.4g}, most {:.4g}",
                               sparkline(values, curve_width), *first, *last, least, most));
}

std::vector<double> values_of(const Run& run, std::size_t which, double Spread::*member) {
  std::vector<double> values;
  for (const MetricsRow& r : run.metrics.rows())
    values.push_back(r.values[which] ? (*r.values[which]).*member : no_number);
  return values;
}

std::string curves(const Run& run) {
  std::string text = curve("loss", values_of(run, 0, &Spread::mean)) +
                     curve("accuracy", values_of(run, 1, &Spread::mean)) +
                     curve("gradients/s", values_of(run, 2, &Spread::mean));
  std::vector<double> staleness;
  if (run.trace) {
    for (const Moment& m : run.trace->moments())
      staleness.push_back(m.S.count > 0 ? m.S.mean() : no_number);
  } else {
    staleness = values_of(run, 3, &Spread::mean);
  }
  return text + curve("staleness", staleness) + curve("inbox", values_of(run, 6, &Spread::most));
}

std::string histogram_curve(const TraceDigest& trace) {
  const std::uint64_t most = trace.histogram().rbegin()->first, width = most / curve_width + 1;
  std::vector<double> counts(most / width + 1);
  for (const auto& [S, n] : trace.histogram())
    counts[S / width] += std::log1p(static_cast<double>(n));
  return row("histogram", fmt::format("{}  |S| from 0 to {}, logarithmic",
                                      sparkline(counts, curve_width), most));
}

// Who computed how much.
std::string workers(const Run& run) {
  const auto at = run.summary.find("gradients_by_worker");
  if (at == run.summary.end() || !at->is_array() || at->empty()) return "";
  double most = 1;
  for (const Json& n : *at) most = std::max(most, n.is_number() ? n.get<double>() : 0);
  std::string text;
  for (std::size_t w = 0; w < std::min(at->size(), most_worker_rows); ++w) {
    const double n = (*at)[w].is_number() ? (*at)[w].get<double>() : 0;
    std::string bar;
    for (int k = 0; k < static_cast<int>(std::lround(n / most * 30)); ++k) bar += "█";
    text += row(w == 0 ? "by worker" : "", fmt::format("{:>3}  {} {}", w, bar, count(n)));
  }
  if (at->size() > most_worker_rows)
    text += row("", fmt::format("     and {} more", at->size() - most_worker_rows));
  return text;
}

std::string replicas(const Json& s) {
  const auto at = s.find("replicas_identical");
  if (at == s.end() || at->is_null()) return "not compared";
  if (*at == true) return "identical";
  // Earlier releases did not write which digests they had compared.
  const auto digests = s.find("digest_of_all");
  const bool all_are_equal =
      digests != s.end() && digests->is_array() &&
      std::adjacent_find(digests->begin(), digests->end(), std::not_equal_to<>()) == digests->end();
  return all_are_equal ? "NOT known to be identical" : "DIFFER";
}

std::string audit(const Json& s) {
  const auto shown = [&](const char* key) {
    return s.contains(key) ? s[key].dump() : std::string("?");
  };
  return row("audit", fmt::format("lost {}, duplicated {}, replicas {}", shown("lost"),
                                  shown("duplicated"), replicas(s))) +
         row("digest", text_of(s, "replica_digest", "?"));
}

std::string headline(const Run& run) {
  const auto of = [&](const char* key) {
    const auto at = run.config.find(key);
    if (at == run.config.end()) return std::string();
    return at->is_string() ? at->get<std::string>() : at->dump();
  };
  std::string text = run.path;
  if (const auto model = of("model"); !model.empty())
    text += ": " + model + (of("data").empty() ? "" : " on " + data_in_words(of("data")));
  if (const auto workers = of("workers"); !workers.empty())
    text += fmt::format(", {} worker{}, {} graph, lr {}", workers, workers == "1" ? "" : "s",
                        of("topology.kind"), of("lr"));
  return text + "\n";
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width) {
  static constexpr std::array<const char*, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t cells = std::min(width, values.size());
  std::vector<double> means;
  for (std::size_t k = 0; k < cells; ++k) {
    double sum = 0, n = 0;
    for (std::size_t i = k * values.size() / cells; i < (k + 1) * values.size() / cells; ++i)
      if (std::isfinite(values[i])) {
        sum += values[i];
        n += 1;
      }
    means.push_back(n > 0 ? sum / n : no_number);
  }
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (const double m : means)
    if (std::isfinite(m)) {
      least = std::min(least, m);
      most = std::max(most, m);
    }
  std::string text;
  for (const double m : means) {
    if (!std::isfinite(m)) {
      text += ' ';
      continue;
    }
    const double level = most > least ? (m - least) / (most - least) : 0;
    text += blocks[static_cast<std::size_t>(std::lround(level * 7))];
  }
  return text;
}

std::string to_text(const Run& run) {
  std::string text = headline(run);
  for (const std::string& note : run.notes) text += row("note", note);
  const Json& s = run.summary;
  if (run.ended) {
    const double seconds = run.is_virtual() ? real(s, "virtual_seconds") : real(s, "wall_seconds");
    text += row("stopped", fmt::format("after {:.2f} s{}: {}", seconds,
                                       run.is_virtual() ? " of virtual time" : "",
                                       stop_in_words(text_of(s, "stop_reason", "?"))));
    text +=
        row("gradients", fmt::format("{}, {} sample{} ({}/s)", count(real(s, "gradients")),
                                     count(real(s, "samples")), real(s, "samples") == 1 ? "" : "s",
                                     count(real(s, "samples_per_second"))));
    const std::string judged = text_of(s, "evaluated_part", "train");
    const bool held_out = judged != "train";
    text +=
        row("result",
            fmt::format("loss {:.6g}{}", real(s, "loss"), held_out ? " (training)" : "") +
                (s.contains("accuracy") ? fmt::format(", accuracy {:.4f}{}", real(s, "accuracy"),
                                                      held_out ? " (" + judged + ")" : "")
                                        : ""));
    text += row("|S|", fmt::format("average {:.3f}, most {}, loose {:.3f} and {}", real(s, "S_avg"),
                                   count(real(s, "S_max")), real(s, "S_hat_avg"),
                                   count(real(s, "S_hat_max"))));
    if (s.contains("missing_true") && s["missing_true"].is_number())
      text += row("look-ahead", fmt::format("{:.1f} gradients missing on average, estimated {:.1f}",
                                            real(s, "missing_true"), real(s, "missing_estimated")));
  }
  for (const EtaLimit& limit : run.limits)
    text += row("eta limit", fmt::format("{:.4g} {} ({})", limit.eta, limit.name, limit.status));
  text += curves(run);
  if (run.trace) text += histogram_curve(*run.trace);
  text += workers(run);
  if (run.ended) text += audit(s);
  return text;
}

}  // namespace dasgd::report
