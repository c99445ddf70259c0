#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>

#include "dasgd/base/print_at_once.hpp"
#include "dasgd/cluster/train_ranks.hpp"
#include "dasgd/config/engine.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/transport/mpi/communicator.hpp"
#include "ranks.hpp"

namespace dasgd::python {

struct Ranks::Job {
  mpi::Session session;
  const pid_t process = ::getpid();
};
void Ranks::Delete::operator()(Job* job) const { delete job; }

namespace {

constexpr char gone = '-';

// Never destroyed by itself: MPI ends in `leave`, or with the process.
std::unique_ptr<Ranks>& the_only() {
  static auto* const ranks = new std::unique_ptr<Ranks>;
  return *ranks;
}

// Python opens modules for themselves alone; the plug-ins of Open MPI look for its symbols among
// those of everybody.
void show_mpi_to_its_plugins() {
  Dl_info info{};
  void* const symbol = ::dlsym(RTLD_DEFAULT, "MPI_Init_thread");
  void* const here = symbol ? symbol : reinterpret_cast<void*>(&show_mpi_to_its_plugins);
  if (::dladdr(here, &info) != 0 && info.dli_fname)
    ::dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  for (const char* library : {"libmpi.so.40", "libmpi.so.12", "libmpi.so"})
    if (::dlopen(library, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD)) return;
}

}  // namespace

Ranks::Ranks() {
  const auto launch = config::find_launch();
  if (!launch || !launch->serves_mpi) return;
  show_mpi_to_its_plugins();
  job_.reset(new Job);
}

Ranks& Ranks::of_process() {
  if (!the_only()) the_only().reset(new Ranks);
  if (const auto& job = the_only()->job_; job && job->process != ::getpid())
    throw InputError(
        "this process is a fork of a rank and cannot use MPI; make the peer before it forks");
  return *the_only();
}

void Ranks::leave(std::optional<std::chrono::seconds> patience) {
  if (!the_only() || !the_only()->job_) return;
  Job& job = *the_only()->job_;
  if (job.process != ::getpid()) return;
  std::jthread waiting;
  if (patience)
    waiting =
        std::jthread([rank = the_only()->rank(), limit = *patience](const std::stop_token& left) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any never;
          never.wait_for(lock, left, limit, [] { return false; });
          if (left.stop_requested()) return;
          print_at_once("dasgd: rank " + std::to_string(rank) +
                        " has failed and others wait for it; the job ends\n");
          std::_Exit(1);
        });
  const std::string word(1, gone);
  const auto all_gone = [&] {
    const auto words = job.session.world().gather(word);
    return std::ranges::all_of(words, [&](const std::string& w) { return w == word; });
  };
  try {
    while (!all_gone()) continue;
  } catch (const mpi::MpiError&) {  // the end of MPI will find out as well
  }
  the_only().reset();
}

std::size_t Ranks::rank() const {
  return job_ ? static_cast<std::size_t>(job_->session.world().rank()) : 0;
}
std::size_t Ranks::size() const {
  return job_ ? static_cast<std::size_t>(job_->session.world().size()) : 1;
}
std::vector<std::optional<std::string>> Ranks::gather(char purpose, const std::string& bytes) {
  if (!job_) return {bytes};
  std::vector<std::optional<std::string>> values;
  for (std::string& word : job_->session.world().gather(purpose + bytes)) {
    if (word.front() != purpose && word.front() != gone)
      throw InputError("ranks are out of step: all must make, finish and gather in the same order");
    values.push_back(word.front() == gone ? std::nullopt : std::optional(word.substr(1)));
  }
  return values;
}
std::string Ranks::broadcast(std::string bytes) {
  return job_ ? job_->session.world().broadcast(std::move(bytes)) : bytes;
}

std::optional<TrainResult<float>> Ranks::train(const Objective<float>& objective,
                                               const TrainOptions& options, const RunOnRanks& how,
                                               const std::vector<Callback<float>>& callbacks) {
  if (!job_) return run_training<float>(objective, options, callbacks);
  RankOptions rank_options{.silence = how.silence, .trace = how.trace, .watch = how.watch};
  rank_options.values = how.values;
  rank_options.fatal = [rank = rank()](const std::string& why) {
    print_at_once("dasgd: rank " + std::to_string(rank) + ": " + why + "; the job ends\n");
  };
  return train_ranks<float>(job_->session.world(), objective, options, rank_options, callbacks);
}

}  // namespace dasgd::python
