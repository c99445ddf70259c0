#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <thread>

#include "dasgd/cluster/train_ranks.hpp"
#include "dasgd/config/engine.hpp"
#include "dasgd/runtime/train.hpp"
#include "dasgd/transport/mpi/communicator.hpp"
#include "ranks.hpp"

namespace dasgd::python {

struct Ranks::Job {
  mpi::Session session;
};
void Ranks::Delete::operator()(Job* job) const { delete job; }

namespace {

std::unique_ptr<Ranks>& the_only() {
  static std::unique_ptr<Ranks> ranks;
  return ranks;
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
  return *the_only();
}
void Ranks::leave(bool failed) {
  if (!the_only()) return;
  std::jthread patience;
  if (failed)
    patience = std::jthread([rank = the_only()->rank()](const std::stop_token& left) {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any never;
      never.wait_for(lock, left, std::chrono::seconds(10), [] { return false; });
      if (left.stop_requested()) return;
      std::fprintf(stderr, "dasgd: rank %zu has failed and others wait for it; the job ends\n",
                   rank);
      std::_Exit(1);
    });
  the_only().reset();
}

std::size_t Ranks::rank() const {
  return job_ ? static_cast<std::size_t>(job_->session.world().rank()) : 0;
}
std::size_t Ranks::size() const {
  return job_ ? static_cast<std::size_t>(job_->session.world().size()) : 1;
}
std::vector<std::string> Ranks::gather(const std::string& bytes) {
  return job_ ? job_->session.world().gather(bytes) : std::vector{bytes};
}
std::string Ranks::broadcast(std::string bytes) {
  return job_ ? job_->session.world().broadcast(std::move(bytes)) : bytes;
}

std::optional<TrainResult<float>> Ranks::train(const Objective<float>& objective,
                                               const TrainOptions& options, bool trace,
                                               std::chrono::milliseconds silence) {
  if (!job_) return run_training<float>(objective, options);
  RankOptions rank_options{.silence = silence, .trace = trace};
  rank_options.fatal = [rank = rank()](const std::string& why) {
    std::fprintf(stderr, "dasgd: rank %zu: %s; the job ends\n", rank, why.c_str());
  };
  return train_ranks<float>(job_->session.world(), objective, options, rank_options);
}

}  // namespace dasgd::python
