#include "soak/stage.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <thread>

#include "soak/checks.hpp"
#include "soak/child.hpp"
#include "support/temporary_directory.hpp"

namespace dasgd::soak {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::read_text;

constexpr int done = 0, interrupted = 130;
constexpr auto far_too_long = 120s;  // no run of ours takes a tenth of it

class Play {
 public:
  Play(const Scenario& scenario, std::string binary, std::string directory)
      : scenario_(scenario), binary_(std::move(binary)), directory_(std::move(directory)) {}

  Verdict from_start_to_end() {
    try {
      for (const Blow& blow : scenario_.blows)
        if (!strike(blow)) break;
      if (goes_on_) last_process();
      if (verdict_.wrong.empty()) look();
    } catch (const std::exception& error) {
      fail(fmt::format("the soak itself failed: {}", error.what()));
    }
    return std::move(verdict_);
  }

 private:
  std::string run() const { return directory_ + "/run"; }
  std::string said(const char* ending) const {
    return read_text(directory_ + "/" + std::to_string(processes_) + ending);
  }
  void fail(const std::string& what) { verdict_.wrong.push_back(what); }
  void require_status(int status, int wanted) {
    if (status != wanted)
      fail(fmt::format("exit status {}, not {}: {}", status, wanted, said(".err")));
  }

  std::vector<std::string> next_command() const {
    std::vector<std::string> words{binary_};
    if (fs::exists(run() + "/config.toml")) {
      words.insert(words.end(), {"train", "--resume", run(), "--checkpoint-every", "50ms"});
      words.push_back(scenario_.json ? "--json" : "--quiet");
      words.insert(words.end(), scenario_.when_resumed.begin(), scenario_.when_resumed.end());
    } else {
      words.insert(words.end(), scenario_.arguments.begin(), scenario_.arguments.end());
      words.insert(words.end(), {"--out", run()});
    }
    return words;
  }

  Child start(const std::vector<std::string>& words) {
    verdict_.played.push_back(as_typed(words));
    return Child(words, directory_ + "/" + std::to_string(++processes_));
  }

  // Nothing: it hangs, which is noted.
  std::optional<int> end_of(Child& child) {
    const auto status = child.wait(far_too_long);
    if (!status) fail(fmt::format("still runs after {} s", far_too_long.count()));
    return status;
  }

  // Whether the run is to go on.
  bool strike(const Blow& blow) {
    std::error_code ignored;
    const auto written = [&] { return fs::last_write_time(run() + "/config.toml", ignored); };
    const auto before = written();
    Child child = start(next_command());
    if (blow.kind == Blow::Kind::interrupt)  // before that, a signal ends it as it ends any program
      while (written() == before && !child.wait(1ms)) {
      }
    auto status = child.wait(std::chrono::milliseconds(blow.after_ms));
    if (!status) {
      child.signal(blow.signal);
      ++verdict_.blows;
      verdict_.played.push_back(fmt::format("  signal {} after {} ms", blow.signal, blow.after_ms));
      status = end_of(child);
    }
    return status && judge(*status, blow);
  }

  bool judge(int status, const Blow& blow) {
    const bool killed = blow.kind == Blow::Kind::kill && status == 128 + SIGKILL;
    if (killed || (status == interrupted && scenario_.resume_after_signal)) return true;
    goes_on_ = false;
    interrupted_ = status == interrupted;
    if (!interrupted_) require_status(status, done);
    if (interrupted_ && blow.kind == Blow::Kind::kill) fail("a kill became an interruption");
    return false;
  }

  void last_process() {
    Child child = start(next_command());
    if (const auto status = end_of(child)) require_status(*status, done);
  }

  void must_succeed(std::vector<std::string> words) {
    words.insert(words.begin(), binary_);
    Child child = start(words);
    if (const auto status = end_of(child)) require_status(*status, done);
  }

  void look() {
    if (scenario_.json && !nlohmann::json::accept(said(".out"))) fail("--json printed no JSON");
    for (std::string& what : look_at(scenario_, run(), interrupted_)) fail(what);
    if (scenario_.trace) must_succeed({"check", run()});
    if (scenario_.repeat) {
      std::vector<std::string> again = scenario_.arguments;
      again.insert(again.end(), {"--threads", "2", "--out", directory_ + "/again"});
      must_succeed(again);
      for (std::string& what : compare(run(), directory_ + "/again")) fail(what);
    }
  }

  const Scenario& scenario_;
  const std::string binary_, directory_;
  Verdict verdict_;
  std::size_t processes_ = 0;
  bool goes_on_ = true, interrupted_ = false;
};

}  // namespace

Verdict play(const Scenario& scenario, const std::string& binary, const std::string& directory) {
  return Play(scenario, binary, directory).from_start_to_end();
}

}  // namespace dasgd::soak
