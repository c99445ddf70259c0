#include "dasgd/record/trace/trace_reader.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "dasgd/base/files/open_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"

namespace dasgd {
namespace {

using nlohmann::json;

/// One line as JSON, with fields that must or may be whole numbers.
class Fields {
 public:
  explicit Fields(const json& object) : object_(object) {}

  std::uint64_t required(const char* name, std::uint64_t limit) const {
    const auto at = object_.find(name);
    if (at == object_.end()) throw InputError(std::string("has no \"") + name + "\"");
    if (!at->is_number_unsigned() || at->get<std::uint64_t>() > limit)
      throw InputError(std::string("\"") + name + "\" is not a whole number from 0");
    return at->get<std::uint64_t>();
  }

  template <typename Int>
  std::optional<Int> optional(const char* name) const {
    const auto at = object_.find(name);
    if (at == object_.end() || at->is_null()) return std::nullopt;
    return static_cast<Int>(
        required(name, static_cast<std::uint64_t>(std::numeric_limits<Int>::max())));
  }

 private:
  const json& object_;
};

TraceLine application(const json& object, std::size_t line) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() - 1;
  const Fields fields(object);
  TraceLine a;
  a.worker = worker_id(fields.required("worker", most));
  a.step = fields.required("step", most);
  a.name.origin = worker_id(fields.required("origin", most));
  a.name.sequence = static_cast<std::uint32_t>(fields.required("seq", most));
  a.origin_step = fields.required("origin_step", most);
  a.time = fields.optional<Nanoseconds>("time");
  a.start = fields.optional<Nanoseconds>("start");
  a.S = fields.optional<std::uint64_t>("S");
  a.S_hat = fields.optional<std::uint64_t>("S_hat");
  a.line = line;
  if (a.start && a.time && *a.start > *a.time)
    throw InputError("ends before it starts: \"time\" is below \"start\"");
  return a;
}

Nanoseconds tolerance(const json& object) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max() * 1'000'000'000ull;
  return static_cast<Nanoseconds>(Fields(object).required("tolerance", most));
}

}  // namespace

Nanoseconds scan_trace(const std::string& path,
                       const std::function<void(const TraceLine&)>& on_application,
                       const std::function<void(const Violation&)>& on_malformed) {
  std::ifstream file = open_file(path);
  if (!file)
    throw InputError(path +
                     ": cannot be opened; dasgd check needs a trace.jsonl: run with "
                     "`output.trace`");
  Nanoseconds clocks = 0;
  std::string text;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    if (text.find_first_not_of(" \t\r") == text.npos) continue;
    const json object = parse_json<json>(text);
    if (!object.is_object()) {
      on_malformed({line, "is not a JSON object, or repeats a key"});
      continue;
    }
    const auto ev = object.find("ev");
    if (ev == object.end() || (*ev != "apply" && *ev != "clocks")) continue;
    try {
      if (*ev == "apply") {
        on_application(application(object, line));
      } else {
        clocks = tolerance(object);
      }
    } catch (const InputError& error) {
      on_malformed({line, error.what()});
    }
  }
  if (file.bad()) throw InputError(path + ": cannot be read");
  return clocks;
}

TraceFile read_trace(const std::string& path) {
  TraceFile trace;
  trace.tolerance = scan_trace(
      path, [&](const TraceLine& a) { trace.applications.push_back(a); },
      [&](const Violation& v) { trace.malformed.push_back(v); });
  return trace;
}

}  // namespace dasgd
