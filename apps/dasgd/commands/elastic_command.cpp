// Runs whose members come and go: the first member, one that joins, and the commands sent to them.
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <unistd.h>
#include <utility>

#include "commands/commands.hpp"
#include "commands/summary.hpp"
#include "commands/train_run.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/base/print_at_once.hpp"
#include "dasgd/base/units.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/members/ask_settings.hpp"
#include "dasgd/members/control_socket.hpp"
#include "dasgd/members/files.hpp"
#include "dasgd/members/train_member.hpp"
#include "dasgd/settings/settings.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/settings/virtual_world.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"

namespace dasgd::app {
namespace {

namespace fs = std::filesystem;

/// How others can join.
std::string join_line(const members::MemberOptions& member, const std::string& address) {
  const std::string how =
      member.token       ? fmt::format("--token-file {}", (member.directory / "token").string())
      : member.plaintext ? std::string("--plaintext")
                         : std::string("--cert FILE --key FILE --ca FILE");
  return fmt::format("join with: dasgd join {} {}\n", address, how);
}

// An earlier run in the directory goes when nothing can keep this one from beginning any more.
template <typename Real>
int run_member(const Config& config, const Objective<Real>& objective,
               members::MemberOptions options, SignalStop& signals) {
  members::require_elastic(config.run);
  members::take_port(options);
  TrainRun<Real> run(config, objective, signals);
  options.settings = run.settings();
  options.say = [&](const std::string& line) {
    if (!config.output.quiet) run.say("dasgd: " + config::with_options(line));
  };
  std::unique_ptr<members::Member> member;
  if (!options.contacts.empty()) {
    member = members::become_member<Real>(objective, config.run, options);
    member->wait_for_model(signals.token());
  }
  if (run.is_stopped()) return interrupted;
  run.open();
  options.directory = run.directory().path();
  if (member) member->settle(options.directory);
  RunSummary summary;
  const int status = run.run([&](const TrainOptions& all, const auto& callbacks) {
    if (!member) {
      member = members::become_member<Real>(objective, all, options);
      const std::string line = join_line(options, member->address());
      if (config.output.json)
        print_note("{}", line);
      else
        offer_text(line);
    }
    auto result = members::train_member<Real>(objective, all, *member, callbacks);
    summary = result.summary;
    return result;
  });
  if (!config.output.quiet && !config.output.json) print_members(summary);
  member->leave_names();
  return status;
}

members::MemberOptions member_of(const config::ElasticSettings& elastic) {
  members::MemberOptions member;
  members::require_name(elastic.name);
  member.name = elastic.name;
  member.listen = elastic.listen;
  if (!elastic.advertise.empty()) members::require_address(elastic.advertise);
  member.advertise = elastic.advertise;
  member.certificate = elastic.certificate;
  member.key = elastic.key;
  member.authority = elastic.authority;
  member.plaintext = elastic.plaintext;
  member.merge = config::merge_of(elastic);
  member.patience = config::patience_of(elastic);
  const int files =
      !elastic.certificate.empty() + !elastic.key.empty() + !elastic.authority.empty();
  if (files != 0 && files != 3) throw InputError("--cert, --key and --ca belong together");
  if (elastic.plaintext + (files > 0) + !elastic.token_file.empty() > 1)
    throw InputError("--token-file, --cert and --plaintext exclude each other: give one");
  return member;
}

void take_token(members::MemberOptions& member, const std::string& file) {
  if (member.plaintext || !member.certificate.empty()) return;
  member.token = tcp::Token::from_file_or_environment(
      file.empty() ? std::nullopt : std::optional<fs::path>(file),
      [](const std::string& line) { print_note("dasgd: {}\n", config::with_options(line)); });
}

std::string absolute_if_there(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error) ? fs::absolute(path).string() : path;
}

/// The settings of the run as a config.
Config config_from(const std::string& settings, const JoinRequest& request) {
  Config config;
  std::set<std::string> overridden;
  if (!request.data.empty()) overridden.insert("data");
  config::read_config_text(config::Command::train, settings, "the settings of the run", overridden,
                           config);
  if (!request.data.empty()) config.problem.data = absolute_if_there(request.data);
  return config;
}

}  // namespace

int train_elastic(Config config) {
  SignalStop signals;
  members::MemberOptions member = member_of(config.elastic);
  if (!member.plaintext && member.certificate.empty()) {
    if (config.elastic.token_file.empty()) {
      member.token = tcp::Token::random();
    } else {
      take_token(member, config.elastic.token_file);
    }
  }
  const auto stream =
      is_stream(config.problem.data) ? open_stream_of(config, signals.token()) : nullptr;
  if (!stream && is_stream(config.problem.data)) return interrupted;
  const Problem read = stream ? Problem() : read_problem(config);
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) {
        return run_member<Real>(config, *objective, member, signals);
      },
      stream ? stream->problem : read);
}

int join_command(const JoinRequest& given) {
  JoinRequest request = given;
  if (request.dial_out_only && !request.elastic.listen.empty())
    throw InputError("--dial-out-only and --listen exclude each other");
  if (request.dial_out_only && !request.elastic.advertise.empty())
    throw InputError("--dial-out-only and --advertise exclude each other");
  if (request.slow && !(*request.slow >= 1))
    throw InputError(fmt::format("--slow {}: must be 1 or more", *request.slow));
  std::optional<SignalStop> trying(std::in_place, SignalStop::Kind::silent);
  std::vector<std::string> contacts;
  for (const std::string& text : request.addresses) {
    std::error_code no_file;                // a list of addresses may be too long for a name
    if (fs::is_directory(text, no_file)) {  // of a member that was here before
      for (const std::string& address : members::known_addresses(text)) contacts.push_back(address);
      if (request.elastic.token_file.empty() && fs::exists(fs::path(text) / "token"))
        request.elastic.token_file = (fs::path(text) / "token").string();
      if (request.output.out.empty()) request.output.out = text;
      if (request.elastic.name.empty()) request.elastic.name = members::former_name(text);
      if (contacts.empty()) throw InputError(text + ": has no addresses of members");
      continue;
    }
    if (fs::is_regular_file(text, no_file))
      throw InputError(text +
                       ": is a file; join takes the address of a member (HOST:PORT) or the "
                       "directory of one that was here before, and the settings come from the run");
    for (const std::string& address : split(text, ','))
      if (!address.empty()) contacts.push_back(address);
  }
  if (contacts.empty()) throw InputError("join: the address of a member is missing");
  for (const std::string& contact : contacts) members::require_address(contact);
  members::MemberOptions asking = member_of(given.elastic);
  take_token(asking, request.elastic.token_file);
  asking.contacts = contacts;
  if (!request.output.quiet)
    asking.say = [](const std::string& line) { print_at_once("dasgd: " + line + "\n"); };
  const auto answer = members::ask_settings(asking, members::join_limit, trying->token());
  if (!answer) return interrupted;
  const elastic::Welcome& welcome = *answer;

  Config config = config_from(welcome.settings, request);
  request.output.trace |= config.output.trace;
  request.output.no_report |= config.output.no_report;
  config.output = request.output;
  const config::ElasticSettings of_run = std::exchange(config.elastic, given.elastic);
  config.elastic.name = request.elastic.name;
  config.elastic.merge = of_run.merge;
  config.elastic.gone_after = of_run.gone_after;
  config.elastic.alone_after = of_run.alone_after;
  if (!request.dial_out_only && config.elastic.listen.empty())
    config.elastic.listen = members::usual_listen(contacts.front());
  config.workers = 1;
  config.run.slow.clear();  // how slow a machine is does not travel
  if (request.slow) config.run.slow = {{WorkerId{0}, *request.slow}};
  config::resolve(config);
  members::MemberOptions member = member_of(config.elastic);
  member.token = asking.token;
  member.before = welcome.before;
  member.contacts = contacts;
  for (const std::string& address : welcome.addresses) member.contacts.push_back(address);
  Problem read;
  std::shared_ptr<const StreamProblem> stream;
  {  // may take long, or wait for a pipe; nothing is written yet, and nobody knows of this process
    const std::stop_callback leave(trying->token(), [] { ::_exit(interrupted); });
    if (is_stream(config.problem.data))
      stream = open_stream_of(config, trying->token());
    else
      read = read_problem(config);
  }
  return std::visit(
      [&]<typename Real>(const std::unique_ptr<Objective<Real>>& objective) -> int {
        const std::stop_token stop = trying->token();
        trying.reset();  // the next takes the signals from now on
        if (stop.stop_requested()) return interrupted;
        SignalStop signals;
        return run_member<Real>(config, *objective, member, signals);
      },
      stream ? stream->problem : read);
}

int member_command(const MemberRequest& request) {
  std::error_code error;
  if (!fs::is_directory(request.directory, error) && error != std::errc::permission_denied)
    throw InputError(request.directory + " is not a run directory");
  const std::string answer = members::ask_member(request.directory, request.line);
  if (request.line != "status") return done;
  if (request.json) {
    print_result("{}\n", answer);
    return done;
  }
  const auto status = parse_json(answer);
  print_result("{}: {} gradients in its model, set hash {}\n", status["me"].get<std::string>(),
               show_count(status["t"].get<std::uint64_t>()), status["set_hash"].get<std::string>());
  if (status["over"]) print_result("  the run is over; this member evaluates its model\n");
  const auto& of = status["members"];
  const bool in_tree =
      std::any_of(of.begin(), of.end(), [](const auto& m) { return m["relation"] != ""; });
  print_result("  {:<20} {:<8} {:>10} {:>8} {:>8} {:>10} {:>8} {:>12}{}\n", "member", "state",
               "gradients", "per s", "behind", "s behind", "MB/s", "per message",
               in_tree ? "  in the tree" : "");
  for (const auto& m : of) {
    const auto per_message = m["gradients_per_message"].get<double>();  // 0: nothing was sent to it
    const auto relation = m["relation"].get<std::string>();
    print_result("  {:<20} {:<8} {:>10} {:>8.1f} {:>8} {:>10.1f} {:>8.2f} {:>12}{}\n",
                 m["name"].get<std::string>(), m["state"].get<std::string>(),
                 show_count(m["gradients"].get<std::uint64_t>()), m["rate"].get<double>(),
                 m["behind"].get<std::uint64_t>(), m["seconds_behind"].get<double>(),
                 m["link_bytes_per_second"].get<double>() * 1e-6,
                 per_message > 0 ? fmt::format("{:.1f}", per_message) : "-",
                 relation.empty() ? "" : "  " + relation);
  }
  return done;
}

}  // namespace dasgd::app
