#include "dasgd/members/check_members.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "dasgd/base/parse_json.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/elastic/membership/roster.hpp"
#include "dasgd/record/trace/trace_reader.hpp"

namespace dasgd::members {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::optional<Json> read_json(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  Json json = parse_json<Json>(file);
  if (json.is_discarded()) throw InputError(path.string() + ": is not JSON, or repeats a key");
  return json;
}

struct Adopted {
  Nanoseconds time = 0;
  GradientSet names;
};

/// What one member did, in numbers that all members share.
struct MemberTrace {
  std::string directory;
  WorkerId me{};
  std::vector<TraceLine> lines;
  std::vector<Adopted> adoptions;
};

class Check {
 public:
  MembersCheck run(const std::vector<std::string>& directories) {
    for (const std::string& directory : directories) read(directory);
    require_one_run();
    compare();
    for (const MemberTrace& trace : traces_)
      replay(trace, [&](const TraceLine& line, const GradientSet& before) {
        if (line.name.origin == trace.me) computed_on_.emplace(line.name, before);
      });
    for (const MemberTrace& trace : traces_)
      replay(trace, [&](const TraceLine& line, const GradientSet& before) {
        ++result_.applications;
        hold(trace, line, before);
      });
    if (result_.unfinished == result_.members || (result_.gradients == 0 && result_.known == 0))
      violate("nothing to check: no member ended with gradients in its model");
    return std::move(result_);
  }

 private:
  void violate(std::string what) {
    if (result_.violations.size() < 20) result_.violations.push_back(std::move(what));
  }

  WorkerId number(const Json& origin) {
    const auto parsed =
        origin.is_string() ? elastic::Origin::parse(origin.get<std::string>()) : std::nullopt;
    if (!parsed) throw InputError("an origin is not 32 hexadecimal digits");
    return roster_.number(*parsed);
  }

  void read(const std::string& directory) try {
    const fs::path path = directory;
    const auto members = read_json(path / "members.json");
    if (!members) throw InputError("no members.json: not a member of an elastic run");
    std::vector<WorkerId> numbers;
    for (const Json& member : *members) {
      numbers.push_back(number(member.at("origin")));
      names_[numbers.back()] = member.at("name").get<std::string>();
    }
    // A member that was killed before it met another proves nothing about a run.
    if (numbers.size() > 1 || fs::exists(path / "summary.json"))
      met_.push_back({numbers, directory});
    // A simulation has all members in one directory.
    const bool simulated = !members->empty() && members->front().contains("end");
    for (const Json& member : *members)
      if (simulated) count(member.at("end").get<std::string>());
    result_.members += simulated ? members->size() : 1;
    if (const auto summary = read_json(path / "summary.json")) {
      summaries_.push_back({directory, *summary, simulated});
    } else if (!simulated) {
      ++result_.unfinished;
    }
    if (numbers.empty() || !fs::exists(path / "trace.jsonl")) return;
    const std::size_t first = traces_.size();
    for (const WorkerId member : numbers) {
      traces_.push_back({directory, member, {}, {}});
      if (!simulated) break;
    }
    const auto of = [&](std::size_t worker) -> MemberTrace& { return traces_.at(first + worker); };
    const TraceFile trace = read_trace((path / "trace.jsonl").string());
    for (TraceLine line : trace.applications) {
      if (index(line.name.origin) >= numbers.size()) {
        violate(fmt::format("{}: line {} of the trace names a member that is not in members.json",
                            directory, line.line));
        return;
      }
      line.name.origin = numbers[index(line.name.origin)];
      of(simulated ? index(line.worker) : 0).lines.push_back(line);
    }
    std::ifstream adoptions(path / "adoptions.jsonl");
    for (std::string text; std::getline(adoptions, text);) {
      const Json json = parse_json<Json>(text);
      if (json.is_discarded() && adoptions.eof()) break;  // cut short by a kill
      if (json.is_discarded())
        throw InputError("adoptions.jsonl: a line is not JSON, or repeats a key");
      Adopted adopted{json.at("time").get<Nanoseconds>(), {}};
      for (const auto& [origin, ranges] : json.at("names").items())
        for (const Json& range : ranges)
          adopted.names.insert_range({number(Json(origin)), range.at(0).get<std::uint32_t>(),
                                      range.at(1).get<std::uint32_t>()});
      of(json.value("worker", std::size_t{0})).adoptions.push_back(std::move(adopted));
    }
  } catch (const Json::exception& error) {
    throw InputError(directory + ": " + error.what());
  } catch (const std::out_of_range&) {
    throw InputError(directory + ": names a member that is not in members.json");
  } catch (const InputError& error) {
    throw InputError(directory + ": " + error.what());
  }

  /// Members of one run have heard of each other, or of somebody whom both know.
  void require_one_run() const {
    if (met_.empty()) return;
    std::set<WorkerId> known(met_.front().members.begin(), met_.front().members.end());
    std::vector<Met> others(met_.begin() + 1, met_.end());
    const auto joins = [&](const Met& met) {
      const bool meets = std::any_of(met.members.begin(), met.members.end(),
                                     [&](WorkerId member) { return known.contains(member); });
      if (meets) known.insert(met.members.begin(), met.members.end());
      return meets;
    };
    while (std::erase_if(others, joins) > 0) {
    }
    if (!others.empty())
      throw InputError(fmt::format("{} and {}: these are members of different runs",
                                   met_.front().directory, others.front().directory));
  }

  void count(const std::string& end) {
    ++(end == "ended" ? result_.survivors : end == "left" ? result_.left : result_.unfinished);
  }

  void compare() {
    const Ended* first = nullptr;
    for (const Ended& entry : summaries_) {
      const Json& s = entry.summary;
      const std::string why = s.value("stop_reason", "");
      const bool has_left =
          why == "left" || (!entry.simulated && (why == "interrupted" || why == "failed"));
      if (!entry.simulated) count(has_left ? "left" : "ended");
      if (has_left) continue;
      if (s.value("duplicated", 0u) > 0)
        violate(entry.directory + ": a gradient was applied twice");
      // What was not compared then is compared below.
      if (s.value("too_late", 0u) > 0 || s.value("replicas_identical", Json(false)) == false)
        violate(entry.directory + (entry.simulated ? ": not all ended together"
                                                   : ": it did not end together with the others"));
      result_.abandoned += s.value("abandoned", std::uint64_t{0});
      if (!first) {
        first = &entry;
        result_.set_hash = s.value("set_hash", "");
        result_.replica_digest = s.value("replica_digest", "");
        result_.gradients = s.value("gradients", std::uint64_t{0});
        result_.lost = s.value("lost_gradients", std::map<std::string, std::uint64_t>());
        continue;
      }
      for (const char* key : {"set_hash", "replica_digest"})
        if (s.value(key, "") != first->summary.value(key, ""))
          violate(fmt::format("{} and {} ended with a different {}", first->directory,
                              entry.directory, key));
    }
  }

  template <typename Visit>
  void replay(const MemberTrace& trace, Visit&& visit) {
    GradientSet held;
    std::size_t adopted = 0;
    for (const TraceLine& line : trace.lines) {
      while (adopted < trace.adoptions.size() &&
             trace.adoptions[adopted].time <= line.time.value_or(0) && line.step != held.size())
        held = trace.adoptions[adopted++].names;
      if (line.step != held.size()) {
        violate(fmt::format("{}: line {}: t is {} where the member held {} gradients",
                            trace.directory, line.line, line.step, held.size()));
        return;
      }
      visit(line, held);
      if (!held.insert(line.name))
        return violate(
            fmt::format("{}: line {}: a gradient is applied twice", trace.directory, line.line));
    }
  }

  void hold(const MemberTrace& trace, const TraceLine& line, const GradientSet& before) {
    const auto at = computed_on_.find(line.name);
    if (at == computed_on_.end()) return;  // of a member whose trace is not here
    const GradientSet& D = at->second;
    ++result_.known;
    const std::uint64_t S = before.count_missing_from(D) + D.count_missing_from(before);
    if (D.size() != line.origin_step)
      violate(fmt::format("{}: line {}: s is {}, its origin had applied {}", trace.directory,
                          line.line, line.origin_step, D.size()));
    if (line.S && *line.S != S)
      violate(fmt::format("{}: line {}: S is {}, by the sets it is {}", trace.directory, line.line,
                          *line.S, S));
  }

  elastic::Roster roster_;
  std::map<WorkerId, std::string> names_;
  struct Met {
    std::vector<WorkerId> members;
    std::string directory;
  };
  std::vector<Met> met_;
  struct Ended {
    std::string directory;
    Json summary;
    bool simulated = false;
  };
  std::vector<Ended> summaries_;
  std::vector<MemberTrace> traces_;
  std::map<GradientName, GradientSet> computed_on_;  // D(g)
  MembersCheck result_;
};

}  // namespace

bool is_member_directory(const std::string& path) {
  return fs::exists(fs::path(path) / "members.json");
}

MembersCheck check_members(const std::vector<std::string>& directories) {
  return Check().run(directories);
}

}  // namespace dasgd::members
