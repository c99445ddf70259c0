// Updates in memory that all ranks of a machine see.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dasgd/core/gradient.hpp"
#include "dasgd/transport/mpi/communicator.hpp"

namespace dasgd::mpi {

/// The updates of a rank's own workers lie in slots of its own memory, which other ranks of the
/// machine map and read where it lies: such an update is lent to them, not sent. Nobody is copied
/// to, and a word in the same memory says when a borrower has done with it.
class SharedUpdates : public std::enable_shared_from_this<SharedUpdates> {
 public:
  /// Collective: everybody looks at the memory of all others. Ranks of other machines, and of this
  /// one where memory cannot be shared, do not see each other; that is not an error. There are no
  /// more than 256 slots.
  static std::shared_ptr<SharedUpdates> create(Communicator& ranks, std::size_t slots,
                                               std::size_t bytes);
  ~SharedUpdates();
  SharedUpdates(const SharedUpdates&) = delete;
  SharedUpdates& operator=(const SharedUpdates&) = delete;

  // --- the owner ---

  /// Memory for one more own update, in a slot of its own; empty when all have been given. Any
  /// thread.
  std::span<std::byte> place();
  /// The slot where these numbers lie, if they do.
  std::optional<std::uint32_t> slot_of(std::span<const std::byte> numbers) const;
  /// Whether this rank sees what is here.
  bool is_seen_by(int rank) const { return seen_by_[static_cast<std::size_t>(rank)]; }
  /// How many ranks do.
  std::size_t borrowers() const;
  /// How many slots a rank may hold so that all of them together leave room for the next update.
  std::size_t most_loans() const { return std::max<std::size_t>(1, slots_ / (1 + borrowers())); }
  /// Before the rank is notified. Its content must not change until it is back.
  void lend(std::uint32_t slot, int rank);
  bool is_back(std::uint32_t slot, int rank) const;

  // --- borrowers ---

  /// The numbers of another rank's slot as those of a gradient, given back when its last holder
  /// releases it, on whatever thread that is. Null if there is no such slot.
  std::shared_ptr<Gradient> borrow(int owner, std::uint32_t slot);

 private:
  struct Memory;

  SharedUpdates(int self, std::size_t ranks, std::size_t slots, std::size_t bytes);
  std::uint8_t& loan(const Memory& memory, std::uint32_t slot, int rank) const;

  const int self_;
  const std::size_t slots_, stride_, loans_bytes_;
  std::vector<std::unique_ptr<Memory>> of_rank_;  // null: not seen from here
  std::vector<bool> seen_by_;
  std::atomic<std::uint32_t> given_{0};
};

}  // namespace dasgd::mpi
