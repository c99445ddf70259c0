// The thread that owns MPI while a mesh lives: sends, receives, relays.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mpi.h>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dasgd/transport/backlog.hpp"
#include "dasgd/transport/gradient_pool.hpp"
#include "dasgd/transport/message_chooser.hpp"
#include "dasgd/transport/mpi/hub.hpp"
#include "dasgd/transport/mpi/mesh.hpp"
#include "dasgd/transport/mpi/progress/heartbeats.hpp"
#include "dasgd/transport/mpi/progress/polling_pauses.hpp"
#include "dasgd/transport/mpi/requests.hpp"
#include "dasgd/transport/mpi/shared_updates.hpp"
#include "dasgd/transport/pending.hpp"
#include "dasgd/transport/send_window.hpp"
#include "dasgd/transport/wire.hpp"

namespace dasgd::mpi {

/// Moves messages between the hub and MPI until everybody has said goodbye.
///
/// A message is a few bytes with tag 0; a gradient's numbers follow with tag 1, straight from the
/// buffer of the sender and straight into a recycled buffer of the receiver. To a rank of the same
/// machine they are lent instead, where they can be, and only the message travels. Numbers that lie
/// on a device leave from there and arrive on the receiver's where MPI can do that. Sums, and
/// gradients of few bits, travel packed. Two tags are enough for any number of ranks: MPI keeps the
/// order of messages between two ranks, so the next numbers are those of the next header.
///
/// MPI is given little at a time: ranks confirm what has arrived, and what waits for a rank until
/// then is one bundle where every name comes once over every link, else blocks (see Backlog).
class ProgressThread {
 public:
  ProgressThread(MPI_Comm comm, const RankLayout& layout, Hub& hub, const RankMeshOptions& options,
                 std::size_t in_flight, bool eager, const std::vector<bool>& by_device,
                 bool names_come_once, std::shared_ptr<SharedUpdates> shared);

  /// The body of the thread. Does not throw: a failure goes to `on_failure` and ends it.
  void run() noexcept;
  /// How many bytes of numbers waited for a rank or were under way to it at a time, at most. Any
  /// thread.
  std::size_t most_bytes(int rank) const { return most_bytes_[static_cast<std::size_t>(rank)]; }

  struct Chosen {
    MessageFormat format = MessageFormat::full;
    double waited = 0;
  };
  /// In how many bits workers shall send, where they leave that open. Any thread.
  Chosen chosen() const { return {chosen_format_, chosen_when_waited_}; }

 private:
  using Clock = std::chrono::steady_clock;

  /// What follows a message: a parcel's own numbers, or these packed.
  struct Numbers {
    std::span<const std::byte> bytes = {};
    Parcel parcel = {};                             // whose memory they are in; or nothing
    std::shared_ptr<const Bytes> packed = nullptr;  // or here
  };
  /// One message that leaves: its bytes and numbers live until MPI has sent them.
  struct Sending {
    Bytes message;
    Numbers numbers;
    std::size_t pending = 0;
  };
  /// One frame that arrives. A copy of a gradient waits in its queue until the first copy has been
  /// delivered: what its sender sent next may rest on it.
  struct Arrival {
    Frame frame;                             // of a copy: nothing
    std::shared_ptr<const Arrival> awaited;  // of a copy: the first one, unless delivered long ago
    std::size_t numbers_bytes = 0;
    bool on_device = false;
    std::span<std::byte> numbers = {};   // where they go; of a copy, they are thrown away
    Bytes packed;                        // where they go first, if they come packed, ...
    std::span<std::byte> unpacked = {};  // ... and then
    bool to_confirm = false;
    std::size_t pending = 0;
    bool posted = false;
    bool delivered = false;

    /// Null of an announcement.
    const Parcel* parcel() const { return std::get_if<Parcel>(&frame); }
    bool is_copy() const { return parcel() && !*parcel(); }
    void put(std::span<std::byte> there, std::optional<std::uint64_t> packed_bytes);
    /// False where they are not what `pack` makes.
    bool unpack_numbers();
  };
  /// An own gradient that another rank reads in this rank's memory.
  struct Loan {
    GradientPtr gradient;
    std::uint32_t slot;
    int to;
  };
  /// What MPI has not been given yet, because too much is under way.
  using Waiting = std::variant<Pending, Backlog>;
  /// All that is under way between this rank and another.
  struct Peer {
    const bool by_device;  // numbers go from device to device
    Waiting waiting;
    SendWindow window;
    std::deque<Sending> sending = {};
    std::size_t loans = 0;
    std::uint64_t arrived = 0, confirmed = 0;  // parcels with numbers that came from there
    std::deque<std::shared_ptr<Arrival>> arriving = {};
    Bytes unwanted = {};                                // where the numbers of copies go, ...
    std::shared_ptr<DeviceUpdate> unwanted_there = {};  // ... those of a device
    bool unwanted_in_use = false;
    bool gone = false;  // has said goodbye
    bool left = false;  // the goodbye has been sent

    bool nothing_waits() const {
      return std::visit([](const auto& what) { return what.empty(); }, waiting);
    }
    bool is_served() const { return nothing_waits() && window.empty(); }
  };

  Peer& peer_of(int rank) { return peers_[static_cast<std::size_t>(rank)]; }
  void loop();
  void take_device();
  bool send_posted();
  void post(Relayed relayed);
  bool send_ready();
  bool send_waiting(int to);
  bool send_waiting();
  void note_bytes(int to);
  bool lend(int to, const Parcel& parcel);
  bool take_back_loans();
  bool packs_gradients() const;
  void choose(const Parcel& sent);
  std::shared_ptr<const Bytes> packed(const Parcel& parcel);
  void send(int to, const Parcel& parcel);
  void send(int to, const Parcel& parcel, Bytes message, Numbers numbers);
  void send(int to, Bytes message, Numbers numbers);
  void say(int to, Bytes message) { send(to, std::move(message), {}); }
  bool send_receipts();
  bool say_goodbye();
  bool finish_sends();

  bool probe();
  void handle(int from, std::span<const std::byte> bytes);
  void expect(int from, wire::GradientHeader header);
  void expect(int from, wire::BundleHeader header);
  void enqueue(int from, std::shared_ptr<Arrival> arrival);
  std::shared_ptr<Gradient> room(GradientPool& pool);
  std::shared_ptr<Bundle> room(wire::BundleHeader header);
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
  const std::shared_ptr<GradientPool> pool_;        // of foreign gradients, ...
  const std::shared_ptr<GradientPool> pool_there_;  // ... of those that come to the device
  const std::shared_ptr<SharedUpdates> shared_;

  std::vector<Peer> peers_;
  Requests requests_;
  std::vector<Loan> loans_;
  std::map<GradientName, std::shared_ptr<Arrival>> incoming_;     // first copies, not yet delivered
  const std::shared_ptr<std::atomic<std::size_t>> bundles_here_;  // received, somebody has them
  std::vector<Outgoing> load_;
  std::deque<Relayed> posted_;  // of them, what a device still computes, and what is behind it
  std::optional<GradientName> packed_name_;   // the last gradient that was packed, ...
  std::shared_ptr<const Bytes> packed_last_;  // ... for the next rank
  std::vector<std::atomic<std::size_t>> most_bytes_;
  MessageChooser chooser_;
  std::atomic<MessageFormat> chosen_format_{MessageFormat::full};
  std::atomic<double> chosen_when_waited_{0};
  Bytes message_;
  bool closing_ = false;  // nothing more is posted
  Heartbeats life_;
  PollingPauses polling_pauses_;
};

}  // namespace dasgd::mpi
