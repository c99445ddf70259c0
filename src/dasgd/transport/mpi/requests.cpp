#include "dasgd/transport/mpi/requests.hpp"

#include <algorithm>
#include <functional>

#include "dasgd/transport/mpi/handle.hpp"

namespace dasgd::mpi {

MPI_Request* Requests::add(std::size_t& pending, const char* what, int rank) {
  ++pending;
  purposes_.push_back({&pending, what, rank});
  return &requests_.emplace_back(MPI_REQUEST_NULL);
}

bool Requests::poll() {
  if (requests_.empty()) return false;
  int count = 0;
  done_.resize(requests_.size());
  statuses_.resize(requests_.size());
  const int code = MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                done_.data(), statuses_.data());
  if (code == MPI_ERR_IN_STATUS)
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
      const Purpose& purpose = purposes_[static_cast<std::size_t>(done_[k])];
      check(statuses_[k].MPI_ERROR, purpose.what, purpose.rank);
    }
  check(code, "exchanging messages");
  if (count == MPI_UNDEFINED || count == 0) return false;
  done_.resize(static_cast<std::size_t>(count));
  std::sort(done_.begin(), done_.end(), std::greater<>());  // so that places stay true
  for (const int at : done_) remove(static_cast<std::size_t>(at));
  return true;
}

void Requests::remove(std::size_t at) {
  --*purposes_[at].pending;
  requests_[at] = requests_.back();
  purposes_[at] = purposes_.back();
  requests_.pop_back();
  purposes_.pop_back();
}

}  // namespace dasgd::mpi
