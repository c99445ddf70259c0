// Rivals on the ranks of an MPI job.
#pragma once

#include <functional>
#include <string>

#include "dasgd/lab/rivals/play.hpp"
#include "dasgd/transport/mpi/communicator.hpp"

namespace dasgd {

/// Collective: `perform` on ranks, every rank with the same arguments but for the observer, which
/// is rank 0's and sees the models that are there: a server's, or those of its workers. Whoever
/// sums up over all workers does it by MPI_Iallreduce where every rank has one worker. Ends by the
/// observer, a time or a stop. `fatal` reports why a rank cannot go on; then all ranks end at once.
template <typename Real>
PlayResult perform_ranks(mpi::Communicator& ranks, const Objective<Real>& objective,
                         const ChosenRival& rival, const TrainOptions& options,
                         const VirtualWorld& world, const PlayOptions& how,
                         const Observer<Real>* observer,
                         const std::function<void(const std::string&)>& fatal);

}  // namespace dasgd
