// Processes on this machine that are members of an elastic run.
#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "commands/commands.hpp"
#include "commands/launch_directory.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/members/files.hpp"
#include "dasgd/members/launched.hpp"
#include "terminal/children.hpp"
#include "terminal/output.hpp"
#include "terminal/signals.hpp"
#include "terminal/worker_lines.hpp"

namespace dasgd::app {
namespace {

namespace fs = std::filesystem;

std::string host_name() {
  char name[33] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

class MemberLauncher {
 public:
  explicit MemberLauncher(const LaunchRequest& request)
      : request_(request), place_(request.out), workers_(request.workers) {
    for (const std::string& address : {request.listen, request.advertise})
      if (!address.empty()) members::require_address(address);
    if (request.join.empty() && request.token_file.empty()) {
      token_ = place_.path() / "token";
      tcp::write_token(token_, tcp::Token::random());
    } else if (!request.token_file.empty()) {
      token_ = fs::absolute(request.token_file);
    }
    static_cast<void>(tcp::Token::from_file_or_environment(  // now, rather than in each worker
        token_.empty() ? std::nullopt : std::optional(token_)));
  }

  int run() {
    SignalStop signals(SignalStop::Kind::launch);
    for (std::size_t k = 0; k < request_.workers; ++k) start(k);
    bool stop_sent = false, others_can_join = false;
    while (children_.running() > 0) {
      lines_.pass_on(100);
      if (!others_can_join) others_can_join = publish_address();
      const bool stops = signals.token().stop_requested();
      if (stops && !stop_sent) {
        children_.signal_groups(SIGINT);
        stop_sent = true;
      }
      const auto all_ended = children_.wait(std::chrono::milliseconds(0));
      for (const auto& ended : all_ended) {
        workers_[ended.job].runs = false;
        if (ended.status == 0 && !all_members_ended_) one_ended_well_ = true;
      }
      for (const auto& ended : all_ended)
        if (ended.status != 0 && !stops && !all_members_ended_) take(ended);
    }
    lines_.finish();
    return stop_sent                              ? interrupted
           : one_ended_well_ || failures_.empty() ? done
                                                  : failures_.front().status;
  }

 private:
  struct Worker {
    unsigned starts = 0;
    bool runs = false;
    fs::path directory = {};  // of its latest start

    bool became_member() const { return members::model_is_here(directory); }
    bool is_member() const { return runs && became_member(); }
  };

  void start(std::size_t k) {
    Worker& worker = workers_[k];
    const unsigned before = worker.starts++;
    worker.runs = true;
    worker.directory = place_.path() / (before == 0 ? fmt::format("worker-{}", k)
                                                    : fmt::format("worker-{}.{}", k, before));
    fs::create_directories(worker.directory);
    members::Launched member;
    member.directory = worker.directory;
    member.token_file = token_;
    member.begins = k == 0 && before == 0 && request_.join.empty();
    member.join_at = request_.join;
    for (const std::string& address : remote_members())
      member.join_at += (member.join_at.empty() ? "" : ",") + address;
    // The names of another launch are the same.
    if (!request_.join.empty())
      member.name =
          fmt::format("{}@{}-{}", worker.directory.filename().string(), host_name(), ::getpid());
    member.listen = k == 0 && !request_.listen.empty() ? request_.listen : any_port();
    // Another worker of this machine has another port.
    const auto host = request_.advertise.substr(0, request_.advertise.rfind(':'));
    if (!host.empty()) member.advertise = k == 0 ? request_.advertise : host + ":0";
    if (request_.gone_after) member.gone = request_.gone_after->count();
    member.put_into_environment();
    Children::Streams streams{STDOUT_FILENO, STDERR_FILENO};
    if (!request_.bare) streams = {lines_.open(k, false), lines_.open(k, true)};
    children_.start(k, request_.program, streams, SIGKILL);
    if (request_.bare) return;
    ::close(streams.out);
    ::close(streams.err);
  }

  // On the interface over which the run is reached.
  std::string any_port() const {
    if (!request_.join.empty()) return members::usual_listen(request_.join);
    if (request_.listen.empty()) return "127.0.0.1:0";
    return request_.listen.substr(0, request_.listen.rfind(':')) + ":0";
  }

  // Members of other launches that members of this one have met.
  std::vector<std::string> remote_members() const {
    if (request_.listen.empty()) return {};
    const auto here = members::launched_addresses(place_.path());
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(place_.path()))
      for (const std::string& address : members::known_addresses(entry.path()))
        if (std::ranges::find(here, address) == here.end()) found.push_back(address);
    return found;
  }

  bool publish_address() const {
    if (request_.listen.empty()) return true;
    const auto address = members::launched_addresses(place_.path());
    if (address.empty()) return false;
    print_note("join with: dasgd launch --join {} --token-file {} -- ...\n", address.front(),
               token_.string());
    return true;
  }

  void take(const Children::Ended& ended) {
    const std::size_t k = ended.job;
    const std::string how = ended.status > 128
                                ? fmt::format("was killed by signal {}", ended.status - 128)
                                : fmt::format("ended with status {}", ended.status);
    const bool run_is_there =
        !request_.join.empty() || !members::launched_addresses(place_.path()).empty();
    // A process that only tries to join has no model to give.
    const bool others = !request_.join.empty() || !remote_members().empty() ||
                        std::ranges::any_of(workers_, &Worker::is_member);
    const bool again =
        run_is_there && others && !one_ended_well_ && workers_[k].starts <= request_.restarts;
    print_note("dasgd: worker {} {}; {}\n", k, how,
               again             ? "a new member takes its place"
               : one_ended_well_ ? "the run is already over"
               : !run_is_there   ? "no run has begun"
                                 : "it is not replaced");
    note_failure(ended);
    if (again) return start_again(k);
    if (run_is_there && !others && !one_ended_well_) {
      all_members_ended_ = true;
      print_note(
          "dasgd: all members of this launch have ended; the first was worker {}, status {}\n",
          failures_.front().job, failures_.front().status);
    }
    if (all_members_ended_ || (!run_is_there && k == 0))
      children_.signal_groups(SIGTERM);  // they wait for it
  }

  // The others go on where it cannot be started.
  void start_again(std::size_t k) try { start(k); } catch (const std::exception& error) {
    workers_[k].runs = false;
    print_note("dasgd: worker {} is not replaced: {}\n", k, error.what());
  }

  // A process that became a member makes up for the failure of the one before.
  void note_failure(const Children::Ended& ended) {
    std::erase_if(failures_, [&](const Children::Ended& earlier) {
      const Worker& worker = workers_[earlier.job];
      return earlier.job == ended.job ? worker.became_member() : worker.is_member();
    });
    failures_.push_back(ended);
  }

  const LaunchRequest& request_;
  Children children_;  // before any thread
  LaunchDirectory place_;
  fs::path token_;
  WorkerLines lines_;
  std::vector<Worker> workers_;
  std::vector<Children::Ended> failures_;  // that nobody has made good
  bool one_ended_well_ = false, all_members_ended_ = false;
};

}  // namespace

int launch_members(const LaunchRequest& request) { return MemberLauncher(request).run(); }

}  // namespace dasgd::app
