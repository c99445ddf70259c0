// What MPI has been asked to send and receive and has not done yet.
#pragma once

#include <cstddef>
#include <mpi.h>
#include <vector>

namespace dasgd::mpi {

/// All requests of a rank, looked at in one call: MPI looks for news of everybody whichever request
/// it is asked about, so asking about each would repeat that for each.
class Requests {
 public:
  /// Where MPI writes the handle of a request, to be filled before anything else is called here.
  /// `pending` is one larger until it is done, and must stay where it is; `what` with `rank` names
  /// it in an error.
  MPI_Request* add(std::size_t& pending, const char* what, int rank);

  /// True if one was done. Throws MpiError if one has failed.
  bool poll();

 private:
  struct Purpose {
    std::size_t* pending;
    const char* what;
    int rank;
  };
  void remove(std::size_t at);

  std::vector<MPI_Request> requests_;
  std::vector<Purpose> purposes_;  // of the request at the same place
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
};

}  // namespace dasgd::mpi
