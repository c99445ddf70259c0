// The only door to mpi.h: for the sources of this folder.
#pragma once

#include <mpi.h>
#include <string>

#include "dasgd/transport/mpi/communicator.hpp"

namespace dasgd::mpi {

struct Communicator::Handle {
  explicit Handle(MPI_Comm raw);
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
};

/// Throws MpiError unless MPI says that `what` went well.
void check(int code, const std::string& what);

}  // namespace dasgd::mpi
