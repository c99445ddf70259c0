#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "dasgd/base/print_at_once.hpp"
#include "dasgd/cluster/train_ranks.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/lab/ranks/perform_ranks.hpp"
#include "dasgd/settings/settings.hpp"
#include "dasgd/transport/mpi/communicator.hpp"
#include "ranks/ranks.hpp"

namespace dasgd::app {

struct Ranks::Job {
  mpi::Session session;
};

namespace {

std::string place(std::size_t rank) {
  char host[256] = {};
  ::gethostname(host, sizeof(host) - 1);
  return fmt::format("rank {} ({}, pid {})", rank, host, ::getpid());
}

void report_end(const std::string& here, const std::string& why) {
  print_at_once(fmt::format("dasgd: {}: {}; the job ends\n", here, config::with_options(why)));
}

RankOptions rank_options(const std::string& here, const Config& config) {
  RankOptions options{
      .polling = config.ranks.polling,
      .silence = std::chrono::duration_cast<std::chrono::milliseconds>(config.ranks.timeout),
      .share_memory = !config.ranks.no_shared_memory,
      .trace = config.output.trace,
      .watch = config.watch.port.has_value(),
      .checkpoints = config.run.checkpoint.every.count() > 0};
  options.fatal = [here](const std::string& why) { report_end(here, why); };
  if (!config.output.quiet)
    options.note = [](const std::string& line) { print_at_once(line + "\n"); };
  if (config.ranks.log)
    options.log = [here](const std::string& line) {
      print_at_once(fmt::format("dasgd: {} {}\n", here, line));
    };
  return options;
}

}  // namespace

bool Ranks::are_built_in() { return true; }
void Ranks::hand_over(char**) {}
std::string Ranks::library() { return "MPI: " + mpi::Session::library(); }
Ranks::Ranks() : job_(std::make_unique<Job>()) {}
Ranks::~Ranks() = default;

std::size_t Ranks::rank() const { return static_cast<std::size_t>(job_->session.world().rank()); }
std::size_t Ranks::size() const { return static_cast<std::size_t>(job_->session.world().size()); }

std::size_t Ranks::ranks_on_host() {
  return static_cast<std::size_t>(job_->session.world().ranks_on_host());
}

bool Ranks::agree(const std::string& mistake, const std::string& state) {
  const auto all = job_->session.world().gather((mistake.empty() ? "+" + state : "-" + mistake));
  const auto refuse = [&](const std::string& why) {
    if (rank() == 0) throw InputError(why);
    return false;
  };
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r][0] == '-')
      return refuse(r == 0 ? all[r].substr(1) : fmt::format("rank {}: {}", r, all[r].substr(1)));
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      return refuse(fmt::format(
          "rank {} differs from rank 0 in configuration, data or version; they must be the same",
          r));
  return true;
}

bool Ranks::any(bool mine) {
  return std::ranges::count(job_->session.world().gather(mine ? "yes" : "no"), "yes") > 0;
}

std::string Ranks::broadcast(std::string text) {
  return job_->session.world().broadcast(std::move(text));
}

void Ranks::end_job(const std::string& why) {
  report_end(place(rank()), why);
  job_->session.world().abort(1);
}

template <typename Real>
std::optional<TrainResult<Real>> Ranks::train(const Objective<Real>& objective,
                                              const TrainOptions& options, const Config& config,
                                              const std::vector<Callback<Real>>& callbacks) {
  return train_ranks<Real>(job_->session.world(), objective, options,
                           rank_options(place(rank()), config), callbacks);
}

template <typename Real>
std::optional<TrainResult<Real>> Ranks::train_on_first(std::size_t ranks,
                                                       const Objective<Real>& objective,
                                                       const TrainOptions& options,
                                                       const Config& config) {
  auto some = job_->session.world().first(static_cast<int>(ranks));
  if (!some) return std::nullopt;
  return train_ranks<Real>(*some, objective, options, rank_options(place(rank()), config), {});
}

template <typename Real>
PlayResult Ranks::perform(const Objective<Real>& objective, const ChosenRival& rival,
                          const TrainOptions& options, const VirtualWorld& world,
                          const PlayOptions& how, const Observer<Real>* observer) {
  return perform_ranks(job_->session.world(), objective, rival, options, world, how, observer,
                       [here = place(rank())](const std::string& why) { report_end(here, why); });
}

}  // namespace dasgd::app

#include "ranks/ranks_instances.hpp"
