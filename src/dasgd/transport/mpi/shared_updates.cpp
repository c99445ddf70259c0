#include "dasgd/transport/mpi/shared_updates.hpp"

#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <functional>
#include <random>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace dasgd::mpi {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// Nobody else's memory has this name, on this machine or another.
std::string new_name(const std::string& shape) {
  std::random_device random;
  std::string name = "dasgd-updates";
  for (int k = 0; k < 4; ++k) name += "-" + std::to_string(random());
  return name + shape;
}

// Whether so much of the addresses that a process may use (ulimit -v) can be spared.
bool can_spare(std::size_t bytes) {
  rlimit most{};
  if (::getrlimit(RLIMIT_AS, &most) != 0) return false;
  return most.rlim_cur == RLIM_INFINITY || bytes < most.rlim_cur / 16;
}

// Memory with a name and no place in the file system: it goes with its last user.
File make_memory(const std::string& name, std::size_t bytes) {
  rlimit most{};  // beyond it a signal would come
  if (::getrlimit(RLIMIT_FSIZE, &most) != 0 || bytes > most.rlim_cur) return File(-1);
  File file(::memfd_create(name.c_str(), MFD_CLOEXEC));
  if (file && ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return File(-1);
  return file;
}

std::string address_of(const File& file) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
}

// Looks before it opens: on another machine the same address is something else.
File open_memory(const std::string& address, const std::string& name) {
  const std::string expected = "/memfd:" + name + " (deleted)";
  std::string found(expected.size() + 1, '\0');
  const auto length = ::readlink(address.c_str(), found.data(), found.size());
  if (length < 0 || found.substr(0, static_cast<std::size_t>(length)) != expected) return File(-1);
  return File(::open(address.c_str(), O_RDWR | O_CLOEXEC));
}

}  // namespace

/// A rank's memory as it is seen here: loans, and slots, which only their owner writes. Networks
/// that read memory by themselves take none that is protected against writing.
struct SharedUpdates::Memory {
  static std::unique_ptr<Memory> map(const File& file, std::size_t loans_bytes,
                                     std::size_t slots_bytes) {
    auto memory = std::make_unique<Memory>();
    memory->loans = part(file, 0, loans_bytes);
    memory->slots = part(file, loans_bytes, slots_bytes);
    return memory->loans.empty() || memory->slots.empty() ? nullptr : std::move(memory);
  }
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    for (const auto whole : {loans, slots})
      if (!whole.empty()) ::munmap(whole.data(), whole.size());
  }

  static std::span<std::byte> part(const File& file, std::size_t from, std::size_t bytes) {
    void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                            file.get(), static_cast<off_t>(from));
    if (at == MAP_FAILED) return {};
    return {static_cast<std::byte*>(at), bytes};
  }

  std::span<std::byte> loans, slots;
};

SharedUpdates::SharedUpdates(int self, std::size_t ranks, std::size_t slots, std::size_t bytes)
    : self_(self),
      slots_(std::min<std::size_t>(slots, 256)),
      stride_(whole_pages(bytes)),
      loans_bytes_(whole_pages(slots_ * ranks)),
      of_rank_(ranks),
      seen_by_(ranks, false) {}

SharedUpdates::~SharedUpdates() = default;

std::shared_ptr<SharedUpdates> SharedUpdates::create(Communicator& ranks, std::size_t slots,
                                                     std::size_t bytes) {
  const auto size = static_cast<std::size_t>(ranks.size());
  const auto self = static_cast<std::size_t>(ranks.rank());
  auto shared = std::shared_ptr<SharedUpdates>(new SharedUpdates(ranks.rank(), size, slots, bytes));
  const std::size_t slots_bytes = shared->slots_ * shared->stride_;
  const std::string shape = "-" + std::to_string(shared->slots_) + "x" + std::to_string(bytes);
  const std::string name = new_name(shape);
  const bool fits = slots_bytes > 0 && can_spare(size * (shared->loans_bytes_ + slots_bytes));
  const File own = fits ? make_memory(name, shared->loans_bytes_ + slots_bytes) : File(-1);
  const auto map = [&](const File& file, std::size_t rank) {
    if (file) shared->of_rank_[rank] = Memory::map(file, shared->loans_bytes_, slots_bytes);
  };
  map(own, self);

  const auto addresses = ranks.gather(shared->of_rank_[self] ? address_of(own) : "");
  const auto names = ranks.gather(name);
  std::string sees;
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (rank != self && fits && !addresses[rank].empty() && names[rank].ends_with(shape))
      map(open_memory(addresses[rank], names[rank]), rank);
    sees += shared->of_rank_[rank] ? '1' : '0';
  }
  const auto seen = ranks.gather(sees);  // from here on nobody opens anything
  for (std::size_t rank = 0; rank < size; ++rank)
    shared->seen_by_[rank] = rank != self && seen[rank][self] == '1';
  return shared;
}

std::span<std::byte> SharedUpdates::place() {
  const Memory* const own = of_rank_[static_cast<std::size_t>(self_)].get();
  if (!own || borrowers() == 0) return {};
  const std::uint32_t slot = given_.fetch_add(1, std::memory_order_relaxed);
  if (slot >= slots_) return {};
  return own->slots.subspan(slot * stride_, stride_);
}

std::optional<std::uint32_t> SharedUpdates::slot_of(std::span<const std::byte> numbers) const {
  const Memory* const own = of_rank_[static_cast<std::size_t>(self_)].get();
  if (!own || numbers.empty()) return std::nullopt;
  const std::less<const std::byte*> before;
  const std::byte* const begin = own->slots.data();
  if (before(numbers.data(), begin) || !before(numbers.data(), begin + own->slots.size()))
    return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<std::size_t>(numbers.data() - begin) / stride_);
}

std::size_t SharedUpdates::borrowers() const {
  return static_cast<std::size_t>(std::ranges::count(seen_by_, true));
}

std::uint8_t& SharedUpdates::loan(const Memory& memory, std::uint32_t slot, int rank) const {
  return reinterpret_cast<std::uint8_t&>(
      memory.loans[slot * of_rank_.size() + static_cast<std::size_t>(rank)]);
}

// The message that notifies the borrower carries the numbers with it: MPI orders memory.
void SharedUpdates::lend(std::uint32_t slot, int rank) {
  const Memory& own = *of_rank_[static_cast<std::size_t>(self_)];
  std::atomic_ref(loan(own, slot, rank)).store(1, std::memory_order_release);
}

bool SharedUpdates::is_back(std::uint32_t slot, int rank) const {
  const Memory& own = *of_rank_[static_cast<std::size_t>(self_)];
  return std::atomic_ref(loan(own, slot, rank)).load(std::memory_order_acquire) == 0;
}

std::shared_ptr<Gradient> SharedUpdates::borrow(int owner, std::uint32_t slot) {
  const Memory* const theirs = of_rank_[static_cast<std::size_t>(owner)].get();
  if (!theirs || owner == self_ || slot >= slots_) return nullptr;
  auto gradient = std::make_unique<Gradient>();
  gradient->update.settle(theirs->slots.subspan(slot * stride_, stride_));
  return {gradient.release(), [shared = shared_from_this(), theirs, slot](Gradient* g) {
            delete g;
            std::atomic_ref(shared->loan(*theirs, slot, shared->self_))
                .store(0, std::memory_order_release);
          }};
}

}  // namespace dasgd::mpi
