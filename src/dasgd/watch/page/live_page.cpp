#include "dasgd/watch/page/live_page.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "dasgd/base/files/file_descriptor.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/report/page/built_page.hpp"
#include "dasgd/report/page/page.hpp"
#include "dasgd/settings/toml_file.hpp"
#include "dasgd/watch/access/access.hpp"

namespace dasgd::config {
namespace {

watch::ServerOptions server_options(const Config& config, std::function<void()> on_stop,
                                    std::function<void(const std::string&)> warn) {
  const std::string token = config.watch.token.empty() ? watch::draw_token() : config.watch.token;
  const bool required = !config.watch.token.empty() || !watch::is_loopback(config.watch.address);
  const nlohmann::ordered_json data{{"kind", "live"},
                                    {"version", version()},
                                    {"token", token},
                                    {"query", required ? "?token=" + token : ""}};
  return {.address = config.watch.address,
          .port = *config.watch.port,
          .token = token,
          .require_token = required,
          .page = report::fill_page(report::built_page(), data),
          .on_stop = std::move(on_stop),
          .warn = std::move(warn)};
}

// The first line. May be a pipe, so it is read once.
std::string token_in(const std::string& path, const std::function<void(const std::string&)>& note) {
  const auto mistake = [&](const std::string& what) {
    return InputError("`watch.token_file` " + path + ": " + what);
  };
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (*file < 0) throw mistake(std::generic_category().message(errno));
  struct stat status {};
  ::fstat(*file, &status);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 1; got > 0 && text.size() < buffer.size() && text.find('\n') == text.npos;) {
    got = ::read(*file, buffer.data(), buffer.size());
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  try {
    watch::require_token_form(text);
  } catch (const InputError& error) {  // says nothing of what stands there
    throw mistake(error.what());
  }
  if (S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0)
    note(path + ": other users can read this token; protect it with chmod 600");
  return text;
}

void settle_token(WatchSettings& settings, const char* environment,
                  const std::function<void(const std::string&)>& note) {
  if (!settings.token.empty() && !settings.token_file.empty())
    throw InputError("`watch.token` and `watch.token_file` are both given; give one");
  if (!settings.token_file.empty()) {
    settings.token = token_in(settings.token_file, note);
  } else if (settings.token.empty() && environment && *environment) {
    try {
      watch::require_token_form(environment);
    } catch (const InputError& error) {
      throw InputError(std::string("DASGD_WATCH_TOKEN: ") + error.what());
    }
    settings.token = environment;
  }
}

}  // namespace

void settle_watch(Config& config, const char* environment,
                  const std::function<void(const std::string&)>& note) {
  if (!config.watch.port) return;
  settle_token(config.watch, environment, note);
  if (report::built_page().empty())
    throw InputError("`watch.port`: " + std::string(report::no_page));
  // An address that cannot be listened on is reported before data is read or a directory is made.
  const watch::Server probe({.address = config.watch.address, .port = *config.watch.port});
}

LivePage::LivePage(const Config& config, std::function<void()> on_stop,
                   std::function<void(const std::string&)> warn)
    : server_(server_options(config, std::move(on_stop), std::move(warn))) {}

void LivePage::publish(double seconds) {
  constexpr double frame_every = 1;  // second
  const bool due = seconds >= next_frame_ && server_.listeners() > 0;
  if (due) next_frame_ = seconds + frame_every;
  // Frames are made only for somebody; the metrics are small and always there.
  server_.publish(due ? run_->frame() : std::string(), run_->prometheus());
}

void LivePage::prepare(const Config& config, const std::string& line) {
  if (!run_) run_.emplace(config.output.out, to_toml(Command::train, config));
  run_->prepare(line);
  server_.publish(run_->frame(), run_->prometheus());
}

void LivePage::end(const RunSummary& summary) {
  run_->end(summary);
  server_.finish(run_->frame(), run_->prometheus());
}

}  // namespace dasgd::config
