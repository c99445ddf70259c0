#include "dasgd/transport/mpi/hub.hpp"

#include <algorithm>
#include <utility>

namespace dasgd::mpi {

Hub::Hub(int self, const Layout& layout, const Graph& rank_graph, RelayMode relay,
         std::size_t in_flight)
    : self_(self),
      layout_(layout),
      in_flight_(in_flight),
      // Seldom enough to cost little, often enough that the origin need not wait for it.
      tell_after_(std::max<std::size_t>(1, in_flight / 4)),
      relay_(worker_id(static_cast<std::size_t>(self)), rank_graph, relay, layout.workers()),
      sent_(layout.per_rank, 0),
      released_by_(layout.per_rank,
                   std::vector<std::uint64_t>(static_cast<std::size_t>(layout.ranks), 0)),
      let_go_(layout.workers(), 0),
      told_(layout.workers(), 0) {}

bool Hub::has_room(WorkerId own) const {
  const std::lock_guard lock(mutex_);
  const std::size_t local = layout_.local(own);
  const auto& released = released_by_[local];
  for (std::size_t rank = 0; rank < released.size(); ++rank)
    if (static_cast<int>(rank) != self_ && sent_[local] - released[rank] >= in_flight_)
      return false;
  return true;
}

void Hub::send(GradientPtr own) {
  const std::lock_guard lock(mutex_);
  const std::size_t local = layout_.local(own->name.origin);
  relay_.is_first_copy(own->name);  // own frames that come round are copies
  ++sent_[local];
  for (std::size_t i = 0; i < inboxes_.size(); ++i)
    if (i != local) inboxes_[i]->deliver(own, self_);
  if (layout_.ranks > 1) post(Relayed{std::move(own), self_});
}

void Hub::applied(std::span<const GradientPtr> gradients, std::span<const int> from_ranks) {
  if (!relay_.passes_on_application()) return;
  const std::lock_guard lock(mutex_);
  for (std::size_t k = 0; k < gradients.size(); ++k)
    if (from_ranks[k] != self_ && passed_on_.insert(gradients[k]->name))
      post(Relayed{gradients[k], from_ranks[k]});
}

void Hub::announce(Announcement own) {
  const std::lock_guard lock(mutex_);
  relay_.is_first_copy(Frame(own));
  for (Inbox* inbox : inboxes_) inbox->wake();
  if (layout_.ranks > 1) post(Relayed{own, self_});
}

bool Hub::is_first_copy(GradientName name) {
  const std::lock_guard lock(mutex_);
  return relay_.is_first_copy(name);
}

void Hub::arrived(const GradientPtr& gradient, int from_rank) {
  const std::lock_guard lock(mutex_);
  for (Inbox* inbox : inboxes_) inbox->deliver(gradient, from_rank);
  if (relay_.passes_on_arrival(Frame(gradient))) post(Relayed{gradient, from_rank});
}

void Hub::arrived(const Announcement& announcement, int from_rank) {
  const std::lock_guard lock(mutex_);
  if (!relay_.is_first_copy(Frame(announcement))) return;
  for (Inbox* inbox : inboxes_) inbox->wake();
  if (relay_.passes_on_arrival(Frame(announcement))) post(Relayed{announcement, from_rank});
}

void Hub::released(int by_rank, const wire::Release& release) {
  const std::lock_guard lock(mutex_);
  const std::size_t local = layout_.local(release.origin);
  released_by_[local][static_cast<std::size_t>(by_rank)] = release.released;
  inboxes_[local]->wake();
}

void Hub::let_go(const Gradient& foreign) {
  const std::lock_guard lock(mutex_);
  const std::size_t origin = index(foreign.name.origin);
  if (++let_go_[origin] - told_[origin] < tell_after_) return;
  told_[origin] = let_go_[origin];
  post(Direct{layout_.rank_of(foreign.name.origin),
              wire::encode(wire::Release{foreign.name.origin, let_go_[origin]})});
}

void Hub::tell(int rank, Bytes message) {
  const std::lock_guard lock(mutex_);
  post(Direct{rank, std::move(message)});
}

void Hub::post(Outgoing outgoing) {
  outbox_.push_back(std::move(outgoing));
  if (std::exchange(sleeping_, false)) posted_.notify_one();
}

void Hub::take_outbox(std::vector<Outgoing>& to) {
  to.clear();
  const std::lock_guard lock(mutex_);
  std::swap(to, outbox_);
}

void Hub::wait(std::chrono::microseconds limit) {
  std::unique_lock lock(mutex_);
  if (!outbox_.empty() || std::exchange(woken_, false)) return;
  sleeping_ = true;
  posted_.wait_for(lock, limit, [this] { return !sleeping_; });
  sleeping_ = false;
}

void Hub::close() {
  const std::lock_guard lock(mutex_);
  closed_ = woken_ = true;
  sleeping_ = false;
  posted_.notify_one();
}

bool Hub::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::optional<std::uint64_t> Hub::announced_total() const {
  const std::lock_guard lock(mutex_);
  return relay_.announced_total();
}

std::uint64_t Hub::copies_dropped(WorkerId worker) const {
  const std::lock_guard lock(mutex_);
  return layout_.local(worker) == 0 ? relay_.copies_dropped() : 0;
}

}  // namespace dasgd::mpi
