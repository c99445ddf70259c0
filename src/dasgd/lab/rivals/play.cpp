#include "dasgd/lab/rivals/play.hpp"

#include "dasgd/base/input_error.hpp"
#include "dasgd/lab/rivals/arena.hpp"
#include "dasgd/lab/rivals/real_arena.hpp"

namespace dasgd {

template <typename Real>
PlayResult play(const Objective<Real>& objective, Participants<Real>& participants,
                const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how,
                const Observer<Real>* observer) {
  if (world.chaos.reorder > 0)
    throw InputError("rivals need links that keep their order; leave `chaos.reorder` out");
  return Arena<Real>(objective, participants, options, world, how, observer).run();
}

template <typename Real>
RivalSetup<Real> setup_of(const Objective<Real>& objective, const Graph& graph, double eta,
                          const RivalNumbers& numbers, const PlayOptions& how) {
  std::vector<Real> x0 = objective.start();
  x0.resize(x0.size() + how.measured_S);
  return {graph, eta, {std::move(x0)}, numbers};
}

template <typename Real>
PlayResult play(const Objective<Real>& objective, const ChosenRival& rival,
                const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how,
                const Observer<Real>* observer) {
  const Graph graph = graph_of(options);
  validate(world, graph);
  PlayOptions mine = how;
  if (!rival.is_linear()) mine.measured_S = 0;
  auto participants = rival.kind.make(setup_of(objective, graph, options.eta, rival.numbers, mine));
  return play(objective, participants, options, world, mine, observer);
}

void require_real_links(const VirtualWorld& world) {
  constexpr Nanoseconds like_memory = 1'000'000;
  if (world.latency.largest() > like_memory || !world.latency_of_link.empty() || world.bandwidth ||
      world.nic || world.chaos.any())
    throw InputError("only clocks can be set for real; slow or disturbed links need virtual time");
}

template <typename Real>
PlayResult perform(const Objective<Real>& objective, Participants<Real>& participants,
                   const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how,
                   const Observer<Real>* observer) {
  require_real_links(world);
  return RealArena<Real>(objective, participants, options, world, how, observer).run();
}

template <typename Real>
PlayResult perform(const Objective<Real>& objective, const ChosenRival& rival,
                   const TrainOptions& options, const VirtualWorld& world, const PlayOptions& how,
                   const Observer<Real>* observer) {
  const Graph graph = graph_of(options);
  validate(world, graph);
  auto participants = rival.kind.make(setup_of(objective, graph, options.eta, rival.numbers));
  return perform(objective, participants, options, world, how, observer);
}

#define DASGD_PLAY(Real)                                                                        \
  template PlayResult play(const Objective<Real>&, Participants<Real>&, const TrainOptions&,    \
                           const VirtualWorld&, const PlayOptions&, const Observer<Real>*);     \
  template PlayResult play(const Objective<Real>&, const ChosenRival&, const TrainOptions&,     \
                           const VirtualWorld&, const PlayOptions&, const Observer<Real>*);     \
  template PlayResult perform(const Objective<Real>&, Participants<Real>&, const TrainOptions&, \
                              const VirtualWorld&, const PlayOptions&, const Observer<Real>*);  \
  template PlayResult perform(const Objective<Real>&, const ChosenRival&, const TrainOptions&,  \
                              const VirtualWorld&, const PlayOptions&, const Observer<Real>*);  \
  template RivalSetup<Real> setup_of(const Objective<Real>&, const Graph&, double,              \
                                     const RivalNumbers&, const PlayOptions&)
DASGD_PLAY(float);
DASGD_PLAY(double);
#undef DASGD_PLAY

}  // namespace dasgd
