#include <chrono>

#include "dasgd/core/error.hpp"
#include "dasgd/settings/setting_groups.hpp"
#include "dasgd/settings/setting_kinds.hpp"
#include "dasgd/watch/access/access.hpp"

namespace dasgd::config {
namespace {

unsigned short parse_port(const std::string& text) {
  constexpr unsigned short usual = 9797;
  return text.empty() ? usual : static_cast<unsigned short>(parse_whole(text, 65535));
}

}  // namespace

std::vector<Setting> engine_settings() {
  const auto at = field(&Config::ranks, &RankSettings::engine);
  return {unless_default(named({"engine", "--engine", "threads|mpi",
                                "threads, or mpi: one or several workers on each rank (default: "
                                "mpi under mpirun and srun, else threads)"},
                               at, parse_engine),
                         at)};
}

std::vector<Setting> rank_settings() {
  const auto polling = field(&Config::ranks, &RankSettings::polling);
  const auto timeout = field(&Config::ranks, &RankSettings::timeout);
  const auto log = field(&Config::ranks, &RankSettings::log);
  const auto apart = field(&Config::ranks, &RankSettings::no_shared_memory);
  return {
      // Not written: with the number of workers the run repeats on any number of ranks that fits.
      not_written(
          count("ranks.workers_per_rank", "--workers-per-rank",
                "worker threads on each MPI rank; they share gradients in memory (default: 1)",
                field(&Config::ranks, &RankSettings::workers_per_rank), 1)),
      unless_default(named({"ranks.polling", "--polling", "eager|patient|auto",
                            "how a rank polls for messages: eager (uses a core), patient (sleeps), "
                            "or auto (eager where a core is free)"},
                           polling, mpi::parse_polling),
                     polling),
      unless_default(
          place({"ranks.timeout", "--rank-timeout", "T",
                 "a rank that is silent for this long is considered dead and ends the job "
                 "(default: 8s)"},
                timeout, parse_timeout, [](auto time) { return quoted(show_duration(time)); }),
          timeout),
      unless_default(
          flag("ranks.log", "--log-ranks", "log what each rank does to standard error", log), log),
      unless_default(flag("ranks.no_shared_memory", "--no-shared-memory",
                          "ranks of one machine send each other updates as messages, as ranks of "
                          "several machines do; to try out thin links on one machine",
                          apart),
                     apart),
  };
}

std::vector<Setting> elastic_settings() {
  const auto text = [](const char* key, const char* option, const char* placeholder,
                       const char* help, auto at) {
    return not_written(place(
        {key, option, placeholder, help}, at,
        [](const std::string& v) {
          if (v.empty()) throw InputError("must not be empty");
          return v;
        },
        quoted));
  };
  return {
      text("elastic.listen", "--listen", "HOST:PORT",
           "begin an elastic run that others can join (dasgd join); port 0: any free port",
           field(&Config::elastic, &ElasticSettings::listen)),
      text(
          "elastic.advertise", "--advertise", "HOST:PORT",
          "address at which others reach this member, if different from --listen; port 0: the port "
          "of --listen",
          field(&Config::elastic, &ElasticSettings::advertise)),
      text("elastic.token_file", "--token-file", "FILE",
           "file with the token of the run (default: a new token in the run directory)",
           field(&Config::elastic, &ElasticSettings::token_file)),
      text("elastic.name", "--name", "NAME", "name of this member (default: its host and process)",
           field(&Config::elastic, &ElasticSettings::name)),
      text("elastic.cert", "--cert", "FILE",
           "certificate of your own authority, instead of a token",
           field(&Config::elastic, &ElasticSettings::certificate)),
      text("elastic.key", "--key", "FILE", "its key",
           field(&Config::elastic, &ElasticSettings::key)),
      text("elastic.ca", "--ca", "FILE", "the authority",
           field(&Config::elastic, &ElasticSettings::authority)),
      not_written(count("elastic.expected", "--expect",
                        "expected number of members, for --lr auto and proved (default: 1)",
                        field(&Config::elastic, &ElasticSettings::expected), 1)),
      not_written(flag("elastic.plaintext", "--plaintext",
                       "without TLS; only between processes of this machine",
                       field(&Config::elastic, &ElasticSettings::plaintext))),
  };
}

std::vector<Setting> membership_settings() {
  const auto merge = field(&Config::elastic, &ElasticSettings::merge);
  const auto gone = field(&Config::elastic, &ElasticSettings::gone_after);
  const auto alone = field(&Config::elastic, &ElasticSettings::alone_after);
  return {
      unless_default(place(
                         {"elastic.merge", "--merge", "HOW",
                          "how two models are merged after a long split: average, union, or yield "
                          "(default: average)"},
                         merge,
                         [](const std::string& v) {
                           if (v != "average" && v != "union" && v != "yield")
                             throw InputError("must be average, union or yield");
                           return v;
                         },
                         quoted),
                     merge),
      unless_default(
          place({"elastic.gone_after", "--gone-after", "T",
                 "a member that is silent for this long is no longer awaited (default: 10s)"},
                gone, parse_timeout, [](auto time) { return quoted(show_duration(time)); }),
          gone),
      unless_default(
          place({"elastic.alone_after", "--alone-after", "T",
                 "a side that sees less than half of the members continues after this time "
                 "(default: 30s)"},
                alone, parse_timeout, [](auto time) { return quoted(show_duration(time)); }),
          alone),
  };
}

std::vector<Setting> watch_settings() {
  Setting port = place({"watch.port", "--watch", "[PORT]",
                        "show the run live in a browser (default port: 9797; 0: any free port)"},
                       field(&Config::watch, &WatchSettings::port), parse_port,
                       [](unsigned short v) { return std::to_string(v); });
  port.kind = Setting::Kind::optional_value;
  return {
      not_written(port),
      not_written(place(
          {"watch.address", "--watch-address", "ADDR",
           "listen on this address instead of 127.0.0.1; all requests then need the token"},
          field(&Config::watch, &WatchSettings::address),
          [](const std::string& v) {
            watch::is_loopback(v);  // throws for what is not an address
            return v;
          },
          quoted)),
      not_written(place(
          {"watch.token", "--watch-token", "TOKEN",
           "token that all requests need (default: a random one); other users can see it in the "
           "list of processes, so prefer --watch-token-file or the environment variable "
           "DASGD_WATCH_TOKEN"},
          field(&Config::watch, &WatchSettings::token),
          [](const std::string& v) {
            watch::require_token_form(v);
            return v;
          },
          quoted)),
      not_written(text({"watch.token_file", "--watch-token-file", "PATH",
                        "file with the token in its first line, readable only by you"},
                       field(&Config::watch, &WatchSettings::token_file))),
  };
}

}  // namespace dasgd::config
