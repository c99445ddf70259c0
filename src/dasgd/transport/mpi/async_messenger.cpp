#include "dasgd/transport/mpi/async_messenger.hpp"

#include <limits>
#include <list>
#include <stdexcept>
#include <string>
#include <utility>

#include "dasgd/transport/mpi/handle.hpp"
#include "dasgd/transport/mpi/requests.hpp"

namespace dasgd::mpi {
namespace {

// MPI counts in int.
int counted(std::size_t count) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw std::runtime_error("a message of " + std::to_string(count) +
                             " items is more than MPI takes at once");
  return static_cast<int>(count);
}

}  // namespace

struct AsyncMessenger::State {
  struct Sending {
    std::vector<std::byte> bytes;
    std::size_t pending = 0;  // 1 until it is received
  };
  explicit State(Communicator& all) : ranks(all.duplicate()), comm(ranks.handle().comm) {}

  Communicator ranks;
  const MPI_Comm comm;
  std::list<Sending> under_way;
  Requests requests;
  MPI_Request sum = MPI_REQUEST_NULL, end = MPI_REQUEST_NULL;
  bool ends = false;
};

AsyncMessenger::AsyncMessenger(Communicator& ranks) : state_(std::make_unique<State>(ranks)) {}
AsyncMessenger::~AsyncMessenger() = default;

// Synchronous: when it is complete, it has been received.
void AsyncMessenger::send(int rank, int tag, std::vector<std::byte> bytes) {
  const int size = counted(bytes.size());
  State::Sending& sending = state_->under_way.emplace_back();
  sending.bytes = std::move(bytes);
  check(MPI_Issend(sending.bytes.data(), size, MPI_BYTE, rank, tag, state_->comm,
                   state_->requests.add(sending.pending, "MPI_Issend", rank)),
        "MPI_Issend", rank);
}

bool AsyncMessenger::test() {
  if (!state_->requests.poll()) return false;
  std::erase_if(state_->under_way, [](const auto& sending) { return sending.pending == 0; });
  return true;
}

bool AsyncMessenger::all_received() const { return state_->under_way.empty(); }

std::optional<AsyncMessenger::Message> AsyncMessenger::receive() {
  int is_here = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, state_->comm, &is_here, &status), "MPI_Iprobe");
  if (!is_here) return std::nullopt;
  int size = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
  Message message{status.MPI_SOURCE, status.MPI_TAG, {}};
  message.bytes.resize(static_cast<std::size_t>(size));
  check(MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.rank, message.tag, state_->comm,
                 MPI_STATUS_IGNORE),
        "MPI_Recv", message.rank);
  return message;
}

void AsyncMessenger::begin_sum(std::span<float> values) {
  check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), counted(values.size()), MPI_FLOAT, MPI_SUM,
                       state_->comm, &state_->sum),
        "MPI_Iallreduce");
}
void AsyncMessenger::begin_sum(std::span<double> values) {
  check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), counted(values.size()), MPI_DOUBLE, MPI_SUM,
                       state_->comm, &state_->sum),
        "MPI_Iallreduce");
}

bool AsyncMessenger::sum_is_complete() {
  if (state_->sum == MPI_REQUEST_NULL) return false;
  int done = 0;
  check(MPI_Test(&state_->sum, &done, MPI_STATUS_IGNORE), "MPI_Iallreduce");
  return done != 0;
}

bool AsyncMessenger::has_ended_everywhere() {
  if (!state_->ends) {
    if (!all_received()) return false;
    check(MPI_Ibarrier(state_->comm, &state_->end), "MPI_Ibarrier");
    state_->ends = true;
  }
  int done = 0;
  check(MPI_Test(&state_->end, &done, MPI_STATUS_IGNORE), "MPI_Ibarrier");
  return done != 0;
}

}  // namespace dasgd::mpi
