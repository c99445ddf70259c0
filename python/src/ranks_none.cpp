#include "dasgd/config/engine.hpp"
#include "dasgd/core/error.hpp"
#include "dasgd/runtime/train.hpp"
#include "ranks.hpp"

namespace dasgd::python {

struct Ranks::Job {};
void Ranks::Delete::operator()(Job* job) const { delete job; }

Ranks::Ranks() {
  if (const auto launch = config::find_launch(); launch && launch->size > 1)
    throw InputError("this dasgd was built without MPI and cannot be a rank of " +
                     launch->launcher);
}

Ranks& Ranks::of_process() {
  static Ranks ranks;
  return ranks;
}
void Ranks::leave(std::optional<std::chrono::seconds>) {}
std::size_t Ranks::rank() const { return 0; }
std::size_t Ranks::size() const { return 1; }
std::vector<std::optional<std::string>> Ranks::gather(char, const std::string& bytes) {
  return {bytes};
}
std::string Ranks::broadcast(std::string bytes) { return bytes; }

std::optional<TrainResult<float>> Ranks::train(const Objective<float>& objective,
                                               const TrainOptions& options, const RunOnRanks&,
                                               const std::vector<Callback<float>>& callbacks) {
  return run_training<float>(objective, options, callbacks);
}

}  // namespace dasgd::python
