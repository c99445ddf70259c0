#include "live/watch.hpp"

#include "dasgd/core/error.hpp"
#include "dasgd/record/run_summary.hpp"
#include "dasgd/report/built_page.hpp"
#include "dasgd/report/page.hpp"

namespace dasgd::app {
namespace {

watch::ServerOptions server_options(const Config& config, std::function<void()> on_stop) {
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
          .on_stop = std::move(on_stop)};
}

}  // namespace

void validate_watch(const Config& config) {
  if (!config.watch.port) return;
  if (report::built_page().empty())
    throw InputError("`watch.port`: " + std::string(report::no_page));
  // Whoever cannot be listened to is told before data is read or a directory is made.
  const watch::Server probe({.address = config.watch.address, .port = *config.watch.port});
}

Watch::Watch(const Config& config, const std::string& directory, const std::string& config_text,
             std::function<void()> on_stop)
    : run_(directory, config_text), server_(server_options(config, std::move(on_stop))) {}

void Watch::publish(double seconds) {
  constexpr double frame_every = 1;  // second
  const bool due = seconds >= next_frame_ && server_.listeners() > 0;
  if (due) next_frame_ = seconds + frame_every;
  // Frames are made only for somebody; the metrics are small and always there.
  server_.publish(due ? run_.frame() : std::string(), run_.prometheus());
}

void Watch::end(const RunSummary& summary) {
  run_.end(summary);
  server_.finish(run_.frame(), run_.prometheus());
}

}  // namespace dasgd::app
