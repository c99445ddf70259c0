#include "dasgd/lab/ranks/perform_ranks.hpp"

#include <exception>
#include <optional>
#include <thread>

#include "dasgd/lab/ranks/rank_transport.hpp"

namespace dasgd {

template <typename Real>
PlayResult perform_ranks(mpi::Communicator& ranks, const Objective<Real>& objective,
                         const ChosenRival& rival, const TrainOptions& options,
                         const VirtualWorld& world, const PlayOptions& how,
                         const Observer<Real>* observer,
                         const std::function<void(const std::string&)>& fatal) {
  const Graph graph = graph_of(options);
  validate(world, graph);
  require_real_links(world);
  auto participants = rival.kind.make(setup_of(objective, graph, options.eta, rival.numbers));
  const bool sums = rival.kind.all_reduces && participants.size() == options.workers;
  std::optional<RankTransport<Real>> rival_transport;  // these outlive a failure
  std::optional<RealArena<Real>> arena;
  std::jthread mail;
  try {
    rival_transport.emplace(ranks, options.workers, sums, fatal);
    ranks.barrier();  // all begin together
    arena.emplace(objective, participants, options, world, how, observer, &*rival_transport);
    mail = std::jthread([&] {
      try {
        rival_transport->run(*arena);
      } catch (...) {
        rival_transport->abandon(std::current_exception());
      }
    });
    return arena->run();
  } catch (const std::exception& error) {  // the others would wait for this rank
    fatal(error.what());
    ranks.abort(1);
  }
}

#define DASGD_PERFORM(Real)                                                                       \
  template PlayResult perform_ranks(mpi::Communicator&, const Objective<Real>&,                   \
                                    const ChosenRival&, const TrainOptions&, const VirtualWorld&, \
                                    const PlayOptions&, const Observer<Real>*,                    \
                                    const std::function<void(const std::string&)>&)
DASGD_PERFORM(float);
DASGD_PERFORM(double);
#undef DASGD_PERFORM

}  // namespace dasgd
