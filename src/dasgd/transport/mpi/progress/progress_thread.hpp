// The thread that owns MPI while a mesh lives: sends, receives, relays.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mpi.h>
#include <span>
#include <string>
#include <vector>

#include "dasgd/transport/backlog.hpp"
#include "dasgd/transport/gradient_pool.hpp"
#include "dasgd/transport/mpi/hub.hpp"
#include "dasgd/transport/mpi/mesh.hpp"
#include "dasgd/transport/mpi/progress/heartbeats.hpp"
#include "dasgd/transport/mpi/progress/polling_pauses.hpp"
#include "dasgd/transport/mpi/requests.hpp"
#include "dasgd/transport/mpi/shared_updates.hpp"
#include "dasgd/transport/wire.hpp"

namespace dasgd::mpi {

/// Moves messages between the hub and MPI until everybody has said goodbye.
///
/// A message is a few bytes with tag 0; a gradient's numbers follow with tag 1, straight from the
/// buffer of the sender and straight into a recycled buffer of the receiver. To a rank of the same
/// machine they are lent instead, where they can be, and only the message travels. Numbers that lie
/// on a device leave from there and arrive on the receiver's where MPI can do that. Two tags are
/// enough for any number of ranks: MPI keeps the order of messages between two ranks, so the next
/// numbers are those of the next header.
class ProgressThread {
 public:
  ProgressThread(MPI_Comm comm, const RankLayout& layout, Hub& hub, const RankMeshOptions& options,
                 std::size_t in_flight, bool eager, const std::vector<bool>& by_device,
                 std::shared_ptr<SharedUpdates> shared);

  /// The body of the thread. Does not throw: a failure goes to `on_failure` and ends it.
  void run() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  /// One message that leaves: its bytes and numbers live until MPI has sent them.
  struct Sending {
    Bytes message;
    Parcel parcel;  // whose numbers follow; or nothing
    std::span<const std::byte> numbers = {};
    std::size_t pending = 0;
  };
  /// One frame that arrives. A copy of a gradient waits in its queue until the first copy has been
  /// delivered: what its sender sent next may rest on it.
  struct Arrival {
    Frame frame;                             // of a copy: nothing
    std::shared_ptr<const Arrival> awaited;  // of a copy: the first one, unless delivered long ago
    std::size_t numbers_bytes = 0;
    bool on_device = false;
    std::span<std::byte> numbers = {};  // where they go; of a copy, they are thrown away
    std::size_t pending = 0;
    bool posted = false;
    bool delivered = false;

    /// Null of an announcement.
    const Parcel* parcel() const { return std::get_if<Parcel>(&frame); }
    bool is_copy() const { return parcel() && !*parcel(); }
  };
  /// An own gradient that another rank reads in this rank's memory.
  struct Loan {
    GradientPtr gradient;
    std::uint32_t slot;
    int to;
  };
  /// All that is under way between this rank and another.
  struct Peer {
    Peer(std::size_t cap, bool reaches_device) : by_device(reaches_device), backlog(cap) {}
    const bool by_device;  // numbers go from device to device
    Backlog backlog;       // what MPI has not been given yet, because too much is under way
    std::deque<Sending> sending;
    std::size_t parcels_under_way = 0, loans = 0;
    std::deque<std::shared_ptr<Arrival>> arriving;
    Bytes unwanted;                                // where the numbers of copies go, ...
    std::shared_ptr<DeviceUpdate> unwanted_there;  // ... those of a device
    bool unwanted_in_use = false;
    bool gone = false;  // has said goodbye
    bool left = false;  // the goodbye has been sent
  };

  void loop();
  void take_device();
  bool send_posted();
  void post(const Relayed& relayed);
  bool send_backlogs();
  bool lend(int to, const Parcel& parcel);
  bool take_back_loans();
  void send(int to, Bytes message, Parcel parcel, std::span<const std::byte> numbers);
  void send(int to, Parcel parcel);
  void say(int to, Bytes message) { send(to, std::move(message), {}, {}); }
  bool say_goodbye();
  bool finish_sends();

  bool probe();
  void handle(int from, std::span<const std::byte> bytes);
  void expect(int from, wire::GradientHeader header);
  void expect(int from, wire::BundleHeader header);
  void enqueue(int from, std::shared_ptr<Arrival> arrival);
  std::shared_ptr<Gradient> room(GradientPool& pool);
  std::span<std::byte> room_there(std::shared_ptr<DeviceUpdate>& buffer, std::size_t bytes);
  void post_receives(int from);
  void receive_numbers(int from, Arrival& arrival);
  bool finish_receives(int from);
  void deliver(int from, Arrival& arrival);

  void keep_alive(Clock::time_point now);
  bool done() const;
  void idle(bool moved, Clock::time_point now);
  UnderWay under_way() const;

  const MPI_Comm comm_;
  const int self_;
  const RankLayout layout_;
  Hub& hub_;
  const RankMeshOptions& options_;
  const std::size_t window_;                        // parcels that may be under way to one rank
  const std::shared_ptr<GradientPool> pool_;        // of foreign gradients, ...
  const std::shared_ptr<GradientPool> pool_there_;  // ... of those that come to the device
  const std::shared_ptr<SharedUpdates> shared_;

  std::vector<Peer> peers_;
  Requests requests_;
  std::vector<Loan> loans_;
  std::map<GradientName, std::shared_ptr<Arrival>> incoming_;  // first copies, not yet delivered
  std::vector<Outgoing> load_;
  Bytes message_;
  bool closing_ = false;  // nothing more is posted
  Heartbeats life_;
  PollingPauses polling_pauses_;
};

}  // namespace dasgd::mpi
