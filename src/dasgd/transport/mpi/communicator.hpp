// MPI without its header: starting and ending it, and what all ranks do together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "dasgd/base/time.hpp"

namespace dasgd::mpi {

/// MPI failed, or a rank did. The message names the rank where it is known.
class MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a rank's clock stands to that of rank 0: its time minus `offset` is rank 0's, give or take
/// `error`.
struct ClockOffset {
  Nanoseconds offset = 0;
  Nanoseconds error = 0;
};

/// A group of ranks. All functions but `abort` and the sizes are collective: every rank of the
/// group calls them in the same order. One thread at a time.
class Communicator {
 public:
  struct Handle;

  /// A duplicate of an MPI communicator; see communicator.cpp.
  explicit Communicator(std::unique_ptr<Handle> handle);
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) = delete;

  int rank() const;
  int size() const;

  /// How many ranks of this group run on this machine.
  int ranks_on_host();
  Communicator duplicate();
  /// The first `ranks` as a group of their own; nothing on the others.
  std::optional<Communicator> first(int ranks);

  /// Waits for everybody without taking a core, as MPI's own waiting does; so every function here
  /// begins with it.
  void barrier();
  /// What every rank gave, on every rank.
  std::vector<std::string> gather(const std::string& text);

  /// What rank 0 gave, on every rank; of any size.
  std::string broadcast(std::string text);

  /// Compares clocks by messages back and forth, and keeps the quickest of `rounds`. The result is
  /// the same on every rank; the first entry is that of rank 0, zero.
  std::vector<ClockOffset> compare_clocks(const std::function<Nanoseconds()>& clock,
                                          int rounds = 64);

  /// Ends every rank of the job, now. Any thread.
  [[noreturn]] void abort(int status);

  Handle& handle() { return *handle_; }

 private:
  std::unique_ptr<Handle> handle_;
};

/// MPI from its beginning to its end. One per process, on the thread that created it. One thread at
/// a time calls MPI (MPI_THREAD_SERIALIZED): while a mesh lives, that is its progress thread.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Communicator& world() { return *world_; }
  /// Which MPI this is, in a few words.
  static std::string library();

 private:
  std::optional<Communicator> world_;
};

}  // namespace dasgd::mpi
