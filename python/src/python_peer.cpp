#include "python_peer.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>

#include "arguments.hpp"
#include "dasgd/base/digest.hpp"
#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/print_at_once.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/members/ask_settings.hpp"
#include "dasgd/members/train_member.hpp"
#include "dasgd/run/budget.hpp"
#include "free_gil.hpp"
#include "waiting.hpp"

namespace dasgd::python {
namespace {

namespace py = pybind11;

std::string bytes_of(std::span<const float> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

// Replicas are a start and a sum: those who join must have the same start, or take the run's.
std::string fact_of(std::span<const float> start) {
  return "parameters at the start: " + digest_of(std::as_bytes(start)) + "\n";
}

/// The run until a checkpoint, as one leg of one worker.
Checkpoint leg_before(std::span<const float> x0, const PeerBefore& before) {
  Checkpoint leg;
  leg.dimension = x0.size();
  const auto sums = sums_of<float>(x0);
  const auto bytes = std::as_bytes(std::span(sums));
  leg.sums.assign(bytes.begin(), bytes.end());
  leg.legs.emplace_back();
  leg.workers.emplace_back().computed = before.gradients;
  leg.gradients = leg.applications = before.gradients;
  leg.samples = before.samples;
  leg.seconds = before.seconds;
  return leg;
}

std::string mistake_of(const std::function<void()>& action) {
  try {
    action();
    return {};
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

PythonPeer::PythonPeer(std::span<const float> start, const py::dict& keywords, std::size_t batch,
                       const std::optional<PeerBefore>& before, const std::string& optimizer)
    : ranks_(Ranks::of_process()),
      launched_(members::Launched::from_environment()),
      process_(::getpid()),
      config_(read_peer_settings(keywords)),
      optimizer_(optimizer),
      before_(before.value_or(PeerBefore{})),
      values_(ranks_.size(), ranks_.rank()) {
  if (!config_.lr) throw InputError("a peer needs a step size: lr");
  TrainOptions options = config_.run;
  options.eta = *config_.lr;
  options.workers = launched_ ? 1 : ranks_.size();
  options.checkpoint.every = {};
  options.asked = asked_.get_token();
  config_.run = options;
  config_.workers = options.workers;
  seed_ = options.seed;
  if (options.max_time) max_seconds_ = std::chrono::duration<double>(*options.max_time).count();
  if (launched_) {
    if (std::filesystem::exists(launched_->directory / "address"))
      throw InputError("a process is one member of an elastic run: it can have one peer");
    std::stop_source stop;
    const TrainOptions own = [&] {
      TrainOptions with_stop = options;
      with_stop.stop = stop.get_token();
      return with_stop;
    }();
    without_gil(stop, [&] {
      const auto member = member_options(start, before.has_value(), stop.get_token());
      begin({start.begin(), start.end()}, own, batch, as_member(member));
      members::announce_model(*launched_);
    });
    return;
  }
  const RunOnRanks how{
      .silence = std::chrono::duration_cast<std::chrono::milliseconds>(config_.ranks.timeout),
      .trace = config_.output.trace,
      .watch = config_.watch.port.has_value(),
      .values = &values_};
  const FreeGil free;
  begin(same_start(start, how), options, batch, on_ranks(how));
}

PythonPeer::~PythonPeer() {
  const FreeGil free;
  if (!is_of_process()) {
    static_cast<void>(peer_.release());
    static_cast<void>(record_.release());
  } else {
    peer_.reset();
  }
}

void PythonPeer::begin(std::vector<float> x0, TrainOptions options, std::size_t batch,
                       const Engine& engine) {
  if (before_.gradients > 0) {
    earlier_ = leg_before(x0, before_);
    // A member that joins learns from the run how far it is.
    if (!launched_ || launched_->begins) options.resume = &earlier_;
  }
  // `gradients` is of each worker: together they are known where workers are.
  if (!launched_ || options.total_gradients) {
    TrainOptions known = options;
    known.make_samples = [](WorkerId, std::uint64_t) { return nullptr; };  // the loop's
    gradient_budget_ = planned_gradients(known, std::numeric_limits<std::uint32_t>::max());
  }
  peer_ = std::make_unique<Peer<float>>(std::move(x0), options, batch, engine);
}

PeerRecord* PythonPeer::open_record(const Objective<float>& objective) {
  if (!PeerRecord::is_wanted(config_)) return nullptr;
  record_ = std::make_unique<PeerRecord>(config_, optimizer_, objective, [this] { ask_to_end(); });
  const std::lock_guard lock(mutex_);
  record_now_ = record_.get();
  return record_now_;
}

PythonPeer::Engine PythonPeer::on_ranks(const RunOnRanks& how) {
  return [this, how](const Objective<float>& f, const TrainOptions& all) {
    PeerRecord* record = nullptr;
    const std::string mistake = mistake_of([&] {
      if (ranks_.rank() == 0) record = open_record(f);
    });
    for (const auto& answer : ranks_.gather('o', mistake))
      if (answer && !answer->empty()) throw InputError(*answer);
    const auto train = [&](const TrainOptions& options, const PeerRecord::Callbacks& callbacks) {
      return ranks_.train(f, options, how, callbacks);
    };
    auto result = record ? std::optional(record->run(train, all)) : train(all, {});
    // Every rank reports the same about the run, and fails as it did.
    summary_ = ranks_.broadcast(result ? to_json(result->summary) : "");
    std::string why;
    if (result && result->failure)
      why = (result->summary.stop_reason == StopReason::diverged ? 'd' : 'f') +
            mistake_of([&] { std::rethrow_exception(result->failure); });
    why = ranks_.broadcast(why);
    if (why.starts_with('d')) throw Divergence(why.substr(1));
    if (!why.empty()) throw std::runtime_error(why.substr(1));
    return result;
  };
}

members::MemberOptions PythonPeer::member_options(std::span<const float> start, bool takes_start,
                                                  const std::stop_token& stop) {
  members::MemberOptions member = members::member_options(*launched_, stop);
  member.facts = fact_of(start);
  member.say = [](const std::string& line) { print_at_once("dasgd: " + line + "\n"); };
  if (launched_->begins) return member;
  before_ = {};
  if (const auto run = members::ask_settings(member, members::join_limit, stop)) {
    member.before = run->before;
    before_ = {run->before.gradients, run->before.samples, run->before.seconds};
    if (takes_start) {
      member.facts = run->facts;
      member.facts_are_all = true;
    } else if (run->facts.find(member.facts) == std::string::npos) {
      throw InputError(
          "cannot join: the run began with other parameters; seed the generator "
          "(torch.manual_seed) before the network is made, or load the same file");
    }
  }
  return member;
}

PythonPeer::Engine PythonPeer::as_member(members::MemberOptions member) {
  if (!config_.output.out.empty()) config_.output.out += "/" + name();
  if (!launched_->begins) config_.watch.port.reset();  // one page of a launch is enough
  return [this, member = std::move(member)](const Objective<float>& f, const TrainOptions& all) {
    PeerRecord* const record = open_record(f);
    auto taking_part = members::become_member<float>(f, all, member);
    number_.store(taking_part->origin().low);
    {
      const std::lock_guard lock(mutex_);
      member_ = taking_part.get();
    }
    const auto train = [&](const TrainOptions& options, const PeerRecord::Callbacks& callbacks) {
      return std::optional(members::train_member<float>(f, options, *taking_part, callbacks));
    };
    const auto forget = [&] {
      const std::lock_guard lock(mutex_);
      was_first_ = taking_part->protocol().is_first();
      words_ = taking_part->protocol().words();
      member_ = nullptr;
    };
    // What `dasgd check` needs to know who is who.
    const auto keep_names = [&] {
      taking_part.reset();
      const std::filesystem::path from = launched_->directory, to = record->directory();
      std::error_code ignored;  // what is there already, or is not there, stays so
      for (const char* name : {"members.json", "membership.jsonl", "adoptions.jsonl"})
        std::filesystem::copy_file(from / name, to / name, ignored);
    };
    try {
      auto result = record ? std::optional(record->run(train, all)) : train(all, {});
      taking_part->leave_names();
      summary_ = to_json(result->summary);
      // `dasgd check` of the directories of a launch asks how its members have ended.
      const std::string why = mistake_of(
          [&] { write_file((launched_->directory / "summary.json").string(), summary_); });
      if (!why.empty()) member.say(why);
      forget();
      if (record) keep_names();
      return result;
    } catch (...) {
      forget();
      throw;
    }
  };
}

bool PythonPeer::is_of_process() const { return process_ == ::getpid(); }
void PythonPeer::require_process() const {
  if (!is_of_process())
    throw InputError("this peer belongs to the process that made it, not to a fork of it");
}

void PythonPeer::finish() {
  values_.give({});
  peer_->finish();
  write_rest();
}

void PythonPeer::close() {
  values_.give({});
  peer_->close();
  const std::string why = mistake_of([this] { write_rest(); });  // who leaves goes on leaving
  if (!why.empty()) std::fprintf(stderr, "dasgd: %s\n", why.c_str());
}

void PythonPeer::write_rest() {
  const std::lock_guard lock(mutex_);
  is_written_ = true;
  if (record_) record_->add_rest();
}

std::vector<std::optional<std::string>> PythonPeer::exchange(const std::string& value) {
  if (value.size() > elastic::longest_word)
    throw InputError("a value to gather may have 64 KiB in an elastic run");
  const std::lock_guard lock(mutex_);
  if (member_) member_->protocol().announce(value);
  const auto words = member_ ? member_->protocol().words() : words_;
  return {words.begin(), words.end()};
}

std::size_t PythonPeer::give(const std::string& value) {
  constexpr std::size_t most = 1 << 16;  // it travels as a note
  if (value.size() > most)
    throw InputError("a value to gather may have 64 KiB while the run goes; gather after finish");
  return values_.give(value);
}

std::vector<std::optional<std::string>> PythonPeer::gather_at_end(char purpose,
                                                                  const std::string& value) {
  if (launched_) return {value};
  return ranks_.gather(purpose, value);
}

std::vector<float> PythonPeer::mean(std::span<const float> own) {
  std::vector<double> sum(own.size(), 0.0);
  double count = 0;
  for (const auto& bytes : gather_at_end('m', bytes_of(own))) {
    if (!bytes) continue;
    if (bytes->size() != own.size_bytes())
      throw InputError("ranks have buffers of different sizes; their models must be the same");
    for (std::size_t i = 0; i < sum.size(); ++i) {
      float value = 0;
      std::memcpy(&value, bytes->data() + i * sizeof(float), sizeof(float));
      sum[i] += value;
    }
    ++count;
  }
  std::vector<float> result;
  for (const double s : sum) result.push_back(static_cast<float>(s / count));
  return result;
}

void PythonPeer::log(const std::map<std::string, double>& values) {
  const std::lock_guard lock(mutex_);
  if (record_now_) record_now_->log(values);
  if (record_now_ && is_written_) record_now_->add_rest();
}

std::optional<std::size_t> PythonPeer::rank() const {
  return launched_ ? std::nullopt : std::optional(ranks_.rank());
}
std::optional<std::size_t> PythonPeer::size() const {
  return launched_ ? std::nullopt : std::optional(ranks_.size());
}
std::string PythonPeer::name() const {
  if (!launched_) return fmt::format("worker-{}", ranks_.rank());
  return launched_->name.empty() ? launched_->directory.filename().string() : launched_->name;
}

bool PythonPeer::is_first() {
  if (!launched_) return ranks_.rank() == 0;
  const std::lock_guard lock(mutex_);
  return member_ ? member_->protocol().is_first() : was_first_;
}

double PythonPeer::seconds() const {
  const std::chrono::duration<double> here = std::chrono::steady_clock::now() - began_;
  return before_.seconds + here.count();
}

std::string PythonPeer::directory() {
  const std::lock_guard lock(mutex_);
  return record_now_ ? record_now_->directory() : "";
}
std::string PythonPeer::url() {
  const std::lock_guard lock(mutex_);
  return record_now_ ? record_now_->url() : "";
}

// All begin where rank 0 does.
std::vector<float> PythonPeer::same_start(std::span<const float> own, const RunOnRanks& how) {
  const auto all = ranks_.gather('s', fmt::format("{} {} {}", own.size(), how.trace, how.watch));
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (!all[r] || !all[0])
      throw InputError(fmt::format("rank {} has ended; a new run needs all ranks", all[0] ? r : 0));
    const auto size_of = [](const std::string& answer) {
      return answer.substr(0, answer.find(' '));
    };
    if (size_of(*all[r]) != size_of(*all[0]))
      throw InputError(fmt::format(
          "rank {} has a model of {} parameters, rank 0 one of {}; they must be the same", r,
          size_of(*all[r]), size_of(*all[0])));
    if (*all[r] != *all[0])
      throw InputError(fmt::format("rank {} and rank 0 differ in trace or watch", r));
  }
  static_assert(std::is_trivially_copyable_v<PeerBefore>);
  std::string first(sizeof(PeerBefore), '\0');
  std::memcpy(first.data(), &before_, sizeof(PeerBefore));
  first = ranks_.broadcast(ranks_.rank() == 0 ? first + bytes_of(own) : "");
  std::memcpy(&before_, first.data(), sizeof(PeerBefore));
  std::vector<float> start(own.size());
  std::memcpy(start.data(), first.data() + sizeof(PeerBefore), first.size() - sizeof(PeerBefore));
  return start;
}

}  // namespace dasgd::python
