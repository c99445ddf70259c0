// The only door to mpi.h: for the sources of this folder.
#pragma once

#include <mpi.h>
#include <optional>

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

/// Throws MpiError, whose words are made only then.
[[noreturn]] void fail(int code, const char* what, std::optional<int> rank);
/// Throws unless MPI says that `what`, with a certain rank or all of them, went well. Asked all the
/// time.
inline void check(int code, const char* what, std::optional<int> rank = {}) {
  if (code != MPI_SUCCESS) fail(code, what, rank);
}

}  // namespace dasgd::mpi
