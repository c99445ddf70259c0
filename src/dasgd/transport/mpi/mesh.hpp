// Workers on the ranks of an MPI job.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dasgd/base/bytes.hpp"
#include "dasgd/core/gradient.hpp"
#include "dasgd/core/message_format.hpp"
#include "dasgd/topology/graph.hpp"
#include "dasgd/transport/endpoint.hpp"
#include "dasgd/transport/facts_limit.hpp"
#include "dasgd/transport/mpi/communicator.hpp"
#include "dasgd/transport/mpi/layout.hpp"
#include "dasgd/transport/mpi/polling.hpp"
#include "dasgd/transport/relay.hpp"

namespace dasgd::mpi {

class Hub;
class RankNode;
class ProgressThread;

struct RankMeshOptions {
  RelayMode relay = RelayMode::arrival;
  /// How many buffers a worker has for its own gradients, and a rank for those of every foreign
  /// worker. When all are in use, what waits for workers that are behind is folded. On graphs with
  /// several routes half as many may be under way to another rank before what waits to be sent
  /// there is folded; elsewhere what waits for it is one bundle.
  std::size_t in_flight = 64;
  std::function<Nanoseconds()> clock = [] { return Nanoseconds{0}; };

  /// False where every single gradient is to be applied by itself.
  bool folds = true;
  /// In how many bits workers send their updates; automatic: as many as `chosen_format` says.
  MessageFormat message = MessageFormat::full;
  /// Whether updates are lent to ranks of the same machine.
  bool share_memory = true;

  /// What an update of the model takes and the largest shift it has; others are refused.
  std::optional<std::size_t> update_bytes;
  int largest_shift = 127;

  /// The device on which the workers of this rank compute: where MPI can read and write there,
  /// numbers go from device to device between ranks that have them in the same order.
  DeviceBuffers device;
  /// Whether MPI can; where nobody says, it is asked.
  std::optional<bool> cuda_aware;

  std::size_t workers_per_rank = 1;
  Polling polling = Polling::automatic;
  /// Numbers travel in pieces of at most this, because MPI counts in int.
  std::size_t piece_bytes = std::size_t{1} << 30;
  /// What a message may say of the gradients in it.
  FactsLimit facts;
  /// A rank that says nothing for this long is taken for dead.
  std::chrono::milliseconds silence{8'000};

  /// Called on the progress thread when a gradient of another rank has come here for the first
  /// time.
  std::function<void(const GradientFacts& gradient)> on_gradient;
  /// Called on the progress thread with what `send_note` sent here.
  std::function<void(int rank, Bytes note)> on_note;
  /// Called on the progress thread, once, when messages cannot be exchanged any more; one line that
  /// names the rank. Nothing moves from then on.
  std::function<void(const std::string& why)> on_failure;
};

/// One rank's part of the mesh: the endpoints of its workers and a progress thread, which makes
/// all calls of MPI. Workers meet it in queues and never wait for it.
///
/// Links are those of the graph between ranks: two ranks are linked when any of their workers are.
/// Within a rank gradients are shared in memory by all its workers at once.
class RankMesh {
 public:
  /// Collective. `ranks` is used for nothing else; `graph` is the graph of workers.
  RankMesh(Communicator ranks, const Graph& graph, RankMeshOptions options);
  /// Collective, as `close`.
  ~RankMesh();
  RankMesh(const RankMesh&) = delete;
  RankMesh& operator=(const RankMesh&) = delete;

  const RankLayout& layout() const { return layout_; }
  /// With `cuda_aware` where there is a device.
  const RankMeshOptions& options() const { return options_; }
  bool is_here(WorkerId worker) const { return layout_.rank_of(worker) == ranks_.rank(); }
  /// Of a worker on this rank.
  Endpoint& endpoint(WorkerId worker);

  /// How many bytes of messages waited for a rank or were under way to it at a time, at most: none
  /// of what is lent. Any thread.
  std::size_t most_bytes_for(int rank) const;
  /// In how many bits workers shall send, by how long what is sent as messages waits for links; and
  /// how many gradients were in a message in the mean when that was chosen. Any thread.
  MessageFormat chosen_format() const;
  double chosen_when_waited() const;

  /// With how many other ranks numbers are exchanged from device to device.
  std::size_t ranks_by_device() const;

  /// Sends bytes to another rank, in order with all others that go there. Any thread.
  void send_note(int rank, Bytes note);

  /// Collective: everything that was sent has arrived, and nothing more is sent. From here on this
  /// thread may call MPI again.
  void close();

 private:
  Communicator ranks_;
  const RankLayout layout_;
  const RankMeshOptions options_;
  const Graph rank_graph_;
  const std::vector<bool> by_device_;  // towards which ranks
  std::unique_ptr<Hub> hub_;
  std::vector<std::unique_ptr<RankNode>> nodes_;
  std::unique_ptr<ProgressThread> progress_;
  std::jthread thread_;
};

}  // namespace dasgd::mpi
