#include "dasgd/transport/mpi/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <thread>
#include <utility>

#include "dasgd/transport/mpi/handle.hpp"

namespace dasgd::mpi {
namespace {

MPI_Comm duplicate_of(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");
  return copy;
}

int length_of(const std::string& text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw MpiError("a text of more than 2 GiB was to be gathered");
  return static_cast<int>(text.size());
}

}  // namespace

void fail(int code, const char* what, std::optional<int> rank) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw MpiError(what + (rank ? " rank " + std::to_string(*rank) : "") +
                 " failed: " + std::string(text, static_cast<std::size_t>(length)));
}

Communicator::Handle::Handle(MPI_Comm raw) : comm(raw) {
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
}

Communicator::Handle::~Handle() { MPI_Comm_free(&comm); }

Communicator::Communicator(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;

int Communicator::rank() const { return handle_->rank; }
int Communicator::size() const { return handle_->size; }

int Communicator::ranks_on_host() {
  barrier();
  int here = 1;
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(handle_->comm, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
  MPI_Comm_size(host, &here);
  MPI_Comm_free(&host);
  return here;
}

Communicator Communicator::duplicate() {
  barrier();
  return Communicator(std::make_unique<Handle>(duplicate_of(handle_->comm)));
}

std::optional<Communicator> Communicator::first(int ranks) {
  barrier();
  MPI_Comm part = MPI_COMM_NULL;
  check(MPI_Comm_split(handle_->comm, rank() < ranks ? 0 : MPI_UNDEFINED, rank(), &part),
        "MPI_Comm_split");
  if (part == MPI_COMM_NULL) return std::nullopt;
  return Communicator(std::make_unique<Handle>(part));
}

void Communicator::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(handle_->comm, &request), "MPI_Ibarrier");
  std::chrono::microseconds nap(10);
  for (int all_here = 0;;) {
    check(MPI_Test(&request, &all_here, MPI_STATUS_IGNORE), "MPI_Ibarrier");
    if (all_here != 0) return;
    std::this_thread::sleep_for(nap);
    nap = std::min<std::chrono::microseconds>(2 * nap, std::chrono::milliseconds(1));
  }
}

std::vector<std::string> Communicator::gather(const std::string& text) {
  barrier();
  const auto ranks = static_cast<std::size_t>(size());
  const int length = length_of(text);
  std::vector<int> lengths(ranks), offsets(ranks);
  check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, handle_->comm),
        "MPI_Allgather");
  std::size_t total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    offsets[r] = static_cast<int>(total);
    total += static_cast<std::size_t>(lengths[r]);
    if (total > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw MpiError("texts of more than 2 GiB were to be gathered");
  }
  std::string all(total, '\0');
  check(MPI_Allgatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                       MPI_CHAR, handle_->comm),
        "MPI_Allgatherv");
  std::vector<std::string> result;
  for (std::size_t r = 0; r < ranks; ++r)
    result.push_back(
        all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
  return result;
}

std::string Communicator::broadcast(std::string text) {
  barrier();
  constexpr std::uint64_t at_once = std::uint64_t{1} << 30;  // because MPI counts in int
  std::uint64_t size = text.size();
  check(MPI_Bcast(&size, 1, MPI_UINT64_T, 0, handle_->comm), "MPI_Bcast");
  try {
    text.resize(size);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "dasgd: rank %d: out of memory for %llu bytes from rank 0\n", rank(),
                 static_cast<unsigned long long>(size));
    abort(1);  // the others are on their way to the broadcast
  }
  for (std::uint64_t done = 0; done < size; done += at_once)
    check(MPI_Bcast(text.data() + done, static_cast<int>(std::min(at_once, size - done)), MPI_CHAR,
                    0, handle_->comm),
          "MPI_Bcast");
  return text;
}

std::vector<ClockOffset> Communicator::compare_clocks(const std::function<Nanoseconds()>& clock,
                                                      int rounds) {
  barrier();
  constexpr int tag = 0;
  const MPI_Comm comm = handle_->comm;
  std::vector<ClockOffset> offsets(static_cast<std::size_t>(size()));
  Nanoseconds theirs = 0;
  for (int other = 1; other < size(); ++other) {
    if (rank() == other) {
      for (int round = 0; round < rounds; ++round) {
        check(MPI_Recv(nullptr, 0, MPI_INT64_T, 0, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        theirs = clock();
        check(MPI_Send(&theirs, 1, MPI_INT64_T, 0, tag, comm), "MPI_Send");
      }
    } else if (rank() == 0) {
      Nanoseconds quickest = std::numeric_limits<Nanoseconds>::max();
      for (int round = 0; round < rounds; ++round) {
        const Nanoseconds before = clock();
        check(MPI_Send(nullptr, 0, MPI_INT64_T, other, tag, comm), "MPI_Send");
        check(MPI_Recv(&theirs, 1, MPI_INT64_T, other, tag, comm, MPI_STATUS_IGNORE), "MPI_Recv");
        const Nanoseconds after = clock();
        if (after - before >= quickest) continue;
        // They read their clock somewhere between our two readings.
        quickest = after - before;
        offsets[static_cast<std::size_t>(other)] = {theirs - before - quickest / 2,
                                                    (quickest + 1) / 2};
      }
    }
  }
  static_assert(sizeof(ClockOffset) == 2 * sizeof(std::int64_t));
  check(MPI_Bcast(offsets.data(), 2 * size(), MPI_INT64_T, 0, comm), "MPI_Bcast");
  return offsets;
}

void Communicator::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

Session::Session() {
  int provided = 0;
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    throw MpiError("this MPI does not let a second thread call it (MPI_THREAD_SERIALIZED)");
  }
  world_.emplace(std::make_unique<Communicator::Handle>(duplicate_of(MPI_COMM_WORLD)));
}

Session::~Session() {
  try {
    world_->barrier();
  } catch (const MpiError&) {  // MPI_Finalize will find out as well
  }
  world_.reset();
  MPI_Finalize();
}

std::string Session::library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string whole(text, static_cast<std::size_t>(length));
  return whole.substr(0, whole.find_first_of(",\n\t"));
}

}  // namespace dasgd::mpi
