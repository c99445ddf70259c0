// Runs whose members come and go: the first member, one who joins, and what is told to them.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

#include "commands/commands.hpp"
#include "commands/summary.hpp"
#include "commands/train_run.hpp"
#include "dasgd/base/atomic_file.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/members/door.hpp"
#include "dasgd/members/files.hpp"
#include "dasgd/members/train_member.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/settings/virtual_world.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

namespace fs = std::filesystem;

template <typename Real>
int run_member(const Config& config, const Objective<Real>& objective,
               members::MemberOptions member, SignalStop& signals) {
  members::require_elastic(config.run);
  members::take_port(member);  // before anything of an earlier run is touched
  TrainRun<Real> run(config, objective, signals);
  member.directory = run.directory().path();
  member.settings = run.settings();
  member.say = [&](const std::string& line) {
    if (!config.output.quiet) run.say("dasgd: " + line);
  };
  const bool begins = member.contacts.empty();
  const fs::path token = member.directory / "token";
  if (member.token) tcp::write_token(token, *member.token);
  const bool on_stdout = !config.output.json;
  const auto begun = [&](const std::string& address) {
    if (!begins) return;
    const std::string how = member.token       ? fmt::format("--token-file {}", token.string())
                            : member.plaintext ? std::string("--plaintext")
                                               : std::string("--cert FILE --key FILE --ca FILE");
    const std::string line = fmt::format("join with: dasgd join {} {}\n", address, how);
    if (on_stdout) {
      offer_text(line);     // it stands in the run directory as well
      std::fflush(stdout);  // others wait for it
    } else {
      print_note("{}", line);
    }
  };
  RunSummary summary;
  const int status = run.run([&](const TrainOptions& options, const auto& callbacks) {
    auto result = members::train_member<Real>(objective, options, member, callbacks, begun);
    summary = result.summary;
    return result;
  });
  if (!config.output.quiet && !config.output.json) print_members(summary);
  return status;
}

members::MemberOptions member_of(const config::ElasticSettings& elastic) {
  members::MemberOptions member;
  members::require_name(elastic.name);
  member.name = elastic.name;
  member.listen = elastic.listen;
  member.certificate = elastic.certificate;
  member.key = elastic.key;
  member.authority = elastic.authority;
  member.plaintext = elastic.plaintext;
  member.merge = config::merge_of(elastic);
  member.patience = config::patience_of(elastic);
  const int files =
      !elastic.certificate.empty() + !elastic.key.empty() + !elastic.authority.empty();
  if (files != 0 && files != 3) throw InputError("--cert, --key and --ca belong together");
  return member;
}

void take_token(members::MemberOptions& member, const std::string& file) {
  if (member.plaintext || !member.certificate.empty()) return;
  member.token = tcp::Token::from_file_or_environment(
      file.empty() ? std::nullopt : std::optional<fs::path>(file),
      [](const std::string& line) { print_note("dasgd: {}\n", line); });
}

std::string absolute_if_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) ? fs::absolute(path).string() : path;
}

/// The settings of the run as a config; reading wants a file.
Config config_from(const std::string& settings, const JoinRequest& request) {
  char name[] = "/tmp/dasgd-join-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) throw InputError("no temporary file can be made");
  close(file);
  Config config;
  std::set<std::string> overridden;
  if (!request.data.empty()) overridden.insert("data");
  try {
    std::ofstream(name) << settings;
    config::read_config_file(config::Command::train, name, overridden, config);
  } catch (const InputError& error) {
    fs::remove(name);
    std::string what = error.what();
    throw InputError("the settings of the run: " + what);
  }
  fs::remove(name);
  if (!request.data.empty()) config.problem.data = absolute_if_there(request.data);
  return config;
}

}  // namespace

int train_elastic(const Config& config) {
  SignalStop signals;
  members::MemberOptions member = member_of(config.elastic);
  if (!member.plaintext && member.certificate.empty()) {
    if (config.elastic.token_file.empty()) {
      member.token = tcp::Token::random();
    } else {
      take_token(member, config.elastic.token_file);
    }
  }
  const Problem problem = read_problem(config);
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return run_member<Real>(config, *objective, member, signals);
      },
      problem);
}

int join_command(const JoinRequest& given) {
  JoinRequest request = given;
  std::optional<SignalStop> trying(std::in_place, SignalStop::Kind::silent);
  std::vector<std::string> contacts;
  for (const std::string& text : request.addresses) {
    if (fs::is_directory(text)) {  // of a member that was here before
      for (const std::string& address : members::known_addresses(text)) contacts.push_back(address);
      if (request.token_file.empty() && fs::exists(fs::path(text) / "token"))
        request.token_file = (fs::path(text) / "token").string();
      if (request.out.empty()) request.out = text;
      if (contacts.empty()) throw InputError(text + ": no addresses of members are written there");
      continue;
    }
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(',', at), text.size());
      if (end > at) contacts.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  if (contacts.empty()) throw InputError("join: the address of a member is missing");
  config::ElasticSettings elastic;
  elastic.name = request.name;
  elastic.plaintext = request.plaintext;
  elastic.certificate = request.certificate;
  elastic.key = request.key;
  elastic.authority = request.authority;
  members::MemberOptions asking = member_of(elastic);
  take_token(asking, request.token_file);
  asking.contacts = contacts;
  const auto since = std::chrono::steady_clock::now();
  const auto answer = members::ask_settings(asking, members::join_limit, trying->token());
  if (!answer) return interrupted;
  const std::chrono::nanoseconds left =
      members::join_limit - (std::chrono::steady_clock::now() - since);
  const elastic::Welcome& welcome = *answer;

  Config config = config_from(welcome.settings, request);
  config.output.out = request.out;
  config.output.trace = config.output.trace || request.trace;
  config.output.no_report = config.output.no_report || request.no_report;
  config.output.quiet = request.quiet;
  config.output.json = request.json;
  config.elastic.name = request.name;
  config.elastic.plaintext = request.plaintext;
  config.elastic.certificate = request.certificate;
  config.elastic.key = request.key;
  config.elastic.authority = request.authority;
  if (!request.dial_out_only)
    config.elastic.listen =
        request.listen.empty() ? members::usual_listen(contacts.front()) : request.listen;
  config.workers = 1;
  config::resolve(config);
  if (request.slow) config.run.slow = {{WorkerId{0}, *request.slow}};
  members::MemberOptions member = member_of(config.elastic);
  member.token = asking.token;
  member.before = welcome.before;
  member.contacts = contacts;
  for (const std::string& address : welcome.addresses) member.contacts.push_back(address);
  const Problem problem = read_problem(config);
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) -> int {
        if (!members::is_admitted<Real>(*objective, config.run, member, left, trying->token()))
          return interrupted;
        trying.reset();
        SignalStop signals;
        return run_member<Real>(config, *objective, member, signals);
      },
      problem);
}

int member_command(const MemberRequest& request) {
  if (!fs::is_directory(request.directory))
    throw InputError(request.directory + ": is no run directory");
  const std::string answer = members::ask_member(request.directory, request.line);
  if (request.line != "status") return done;
  if (request.json) {
    print_result("{}\n", answer);
    return done;
  }
  const auto status = nlohmann::json::parse(answer);
  print_result("{} at step {}, names {}\n", status["me"].get<std::string>(),
               show_count(status["t"].get<std::uint64_t>()), status["set_hash"].get<std::string>());
  for (const auto& m : status["members"])
    print_result("  {:<24} {:<8} {:>10} gradients {:>8.1f}/s  {:>6} behind  {:>8.2f} MB/s\n",
                 m["name"].get<std::string>(), m["state"].get<std::string>(),
                 show_count(m["gradients"].get<std::uint64_t>()), m["rate"].get<double>(),
                 m["behind"].get<std::uint64_t>(), m["link_bytes_per_second"].get<double>() * 1e-6);
  return done;
}

}  // namespace dasgd::app
