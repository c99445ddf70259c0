// This dasgd was built where no MPI was installed.
#include <filesystem>
#include <unistd.h>

#include "dasgd/config/engine.hpp"
#include "dasgd/core/error.hpp"
#include "ranks/ranks.hpp"

namespace dasgd::app {

struct Ranks::Job {};

bool Ranks::are_built_in() { return false; }

void Ranks::hand_over(char** arguments) {
  const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  ::execv((here / DASGD_PROGRAM_WITH_MPI).c_str(), arguments);
}

Ranks::Ranks() {
  const auto launch = config::find_launch();
  throw InputError(
      (launch ? "started by " + launch->launcher + ", but this" : "this") +
      std::string(" dasgd was built without MPI; install the package dasgd-mpi, or MPI "
                  "(libopenmpi-dev or libmpich-dev) and build it again, or use "
                  "`engine` threads"));
}
std::string Ranks::library() { return "MPI: none, built without it"; }
Ranks::~Ranks() = default;

std::size_t Ranks::rank() const { return 0; }
std::size_t Ranks::size() const { return 1; }
std::size_t Ranks::ranks_on_host() { return 1; }
bool Ranks::agree(const std::string&, const std::string&) { return true; }
bool Ranks::any(bool mine) { return mine; }
std::string Ranks::broadcast(std::string text) { return text; }
void Ranks::end_job(const std::string& why) { throw InputError(why); }

template <typename Real>
std::optional<TrainResult<Real>> Ranks::train(const Objective<Real>&, const TrainOptions&,
                                              const Config&, const std::vector<Callback<Real>>&) {
  return std::nullopt;
}

template <typename Real>
std::optional<TrainResult<Real>> Ranks::train_on_first(std::size_t, const Objective<Real>&,
                                                       const TrainOptions&, const Config&) {
  return std::nullopt;
}

template <typename Real>
PlayResult Ranks::perform(const Objective<Real>&, const ChosenRival&, const TrainOptions&,
                          const VirtualWorld&, const PlayOptions&, const Observer<Real>*) {
  return {};
}

}  // namespace dasgd::app

#include "ranks/ranks_instances.hpp"
