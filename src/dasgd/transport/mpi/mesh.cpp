#include "dasgd/transport/mpi/mesh.hpp"

#include <algorithm>
#include <sched.h>
#include <utility>

#include "dasgd/core/error.hpp"
#include "dasgd/transport/mpi/cuda_aware.hpp"
#include "dasgd/transport/mpi/handle.hpp"
#include "dasgd/transport/mpi/hub.hpp"
#include "dasgd/transport/mpi/node.hpp"
#include "dasgd/transport/mpi/progress/progress_thread.hpp"
#include "dasgd/transport/mpi/shared_updates.hpp"

namespace dasgd::mpi {
namespace {

// Ranks are linked when any of their workers are.
Graph graph_of_ranks(const Graph& workers, const RankLayout& layout) {
  if (workers.workers() != layout.workers())
    throw InputError("the graph has " + std::to_string(workers.workers()) + " workers, the ranks " +
                     std::to_string(layout.workers()));
  Graph ranks(static_cast<std::size_t>(layout.ranks));
  const auto node = [&](WorkerId worker) {
    return worker_id(static_cast<std::size_t>(layout.rank_of(worker)));
  };
  for (std::size_t i = 0; i < workers.workers(); ++i)
    for (const WorkerId neighbour : workers.neighbours(worker_id(i)))
      if (node(worker_id(i)) != node(neighbour)) ranks.connect(node(worker_id(i)), node(neighbour));
  return ranks;
}

// The cores that this rank may call its own: where it is bound to, or its share of the machine.
std::size_t own_cores(Communicator& ranks) {
  const auto machine = std::max(1u, std::thread::hardware_concurrency());
  const auto share = machine / static_cast<unsigned>(ranks.ranks_on_host());
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return share;
  return std::min<std::size_t>(static_cast<std::size_t>(CPU_COUNT(&set)), share);
}

bool is_eager(const RankMeshOptions& options, Communicator& ranks) {
  if (options.polling != Polling::automatic) return options.polling == Polling::eager;
  return own_cores(ranks) > options.workers_per_rank;
}

RankMeshOptions with_answer_of_mpi(RankMeshOptions options) {
  if (options.device.make && !options.cuda_aware) options.cuda_aware = is_cuda_aware();
  return options;
}

// Collective: which other ranks have device memory that MPI reaches, in the order of ours.
std::vector<bool> ranks_with_our_order(Communicator& ranks, const RankMeshOptions& options) {
  const bool ours = options.device.make && *options.cuda_aware;
  const auto orders = ranks.gather(ours ? "in order " + options.device.order : "");
  const std::string& own = orders[static_cast<std::size_t>(ranks.rank())];
  std::vector<bool> agree;
  for (const std::string& order : orders) agree.push_back(ours && order == own);
  agree[static_cast<std::size_t>(ranks.rank())] = false;
  return agree;
}

// Then what waits for a link can be one bundle.
bool names_come_once(const Graph& ranks, const RankMeshOptions& options) {
  return options.folds && (options.relay == RelayMode::none ||
                           (options.relay == RelayMode::arrival && ranks.is_tree()));
}

}  // namespace

RankMesh::RankMesh(Communicator ranks, const Graph& graph, RankMeshOptions options)
    : ranks_(std::move(ranks)),
      layout_{ranks_.size(), options.workers_per_rank},
      options_(with_answer_of_mpi(std::move(options))),
      rank_graph_(graph_of_ranks(graph, layout_)),
      by_device_(ranks_with_our_order(ranks_, options_)) {
  require_delivery(graph, options_.relay);
  const std::size_t in_flight = std::max<std::size_t>(1, options_.in_flight);
  const auto shared =
      SharedUpdates::create(ranks_, in_flight * layout_.per_rank,
                            options_.share_memory ? options_.update_bytes.value_or(0) : 0);
  hub_ = std::make_unique<Hub>(ranks_.rank(), layout_, rank_graph_, options_.relay);
  std::vector<Inbox<int>*> inboxes;
  for (std::size_t i = 0; i < layout_.per_rank; ++i) {
    nodes_.push_back(std::make_unique<RankNode>(layout_.worker(ranks_.rank(), i), in_flight,
                                                options_.clock, *hub_,
                                                [shared] { return shared->place(); }));
    inboxes.push_back(&nodes_.back()->inbox());
  }
  hub_->connect(std::move(inboxes));
  progress_ = std::make_unique<ProgressThread>(ranks_.handle().comm, layout_, *hub_, options_,
                                               in_flight, is_eager(options_, ranks_), by_device_,
                                               names_come_once(rank_graph_, options_), shared);
  thread_ = std::jthread([this] { progress_->run(); });
}

RankMesh::~RankMesh() {
  close();
  // A gradient in one inbox belongs to another node's pool: empty all before any goes away.
  for (const auto& node : nodes_) node->inbox().clear();
  std::vector<Outgoing> left;
  hub_->take_outbox(left);
  left.clear();
  progress_.reset();
}

Endpoint& RankMesh::endpoint(WorkerId worker) { return *nodes_[layout_.local(worker)]; }

MessageFormat RankMesh::chosen_format() const { return progress_->chosen().format; }
double RankMesh::chosen_when_waited() const { return progress_->chosen().waited; }

std::size_t RankMesh::most_bytes_for(int rank) const { return progress_->most_bytes(rank); }

std::size_t RankMesh::ranks_by_device() const {
  return static_cast<std::size_t>(std::count(by_device_.begin(), by_device_.end(), true));
}

void RankMesh::send_note(int rank, Bytes note) {
  hub_->send_note(rank, wire::encode(wire::Note{std::move(note)}));
}

void RankMesh::close() {
  hub_->close();
  if (thread_.joinable()) thread_.join();
}

}  // namespace dasgd::mpi
