#include "dasgd/transport/mpi/hub.hpp"

#include <utility>

namespace dasgd::mpi {

Hub::Hub(int self, const RankLayout& layout, const Graph& rank_graph, RelayMode relay)
    : self_(self),
      layout_(layout),
      relay_(worker_id(static_cast<std::size_t>(self)), rank_graph, relay, layout.workers()),
      sent_(layout.per_rank) {}

std::size_t Hub::send(GradientPtr own) {
  const std::lock_guard lock(mutex_);
  const std::size_t local = layout_.local(own->name.origin);
  relay_.is_first_copy(own->name);  // own frames that come round are copies
  for (std::size_t i = 0; i < inboxes_.size(); ++i)
    if (i != local) inboxes_[i]->deliver(own, self_);
  if (layout_.ranks > 1) post(Relayed{std::move(own), self_});
  return outbox_.size();
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
  for (Inbox<int>* inbox : inboxes_) inbox->wake();
  if (layout_.ranks > 1) post(Relayed{own, self_});
}

bool Hub::is_first_copy(GradientName name) {
  const std::lock_guard lock(mutex_);
  return relay_.is_first_copy(name);
}

bool Hub::is_first_copy(const GradientSet& names) {
  const std::lock_guard lock(mutex_);
  return relay_.is_first_copy(names);
}

void Hub::arrived(const Frame& frame, int from_rank) {
  const std::lock_guard lock(mutex_);
  const auto* parcel = std::get_if<Parcel>(&frame);  // of it, the header was asked
  if (!parcel && !relay_.is_first_copy(frame)) return;
  for (Inbox<int>* inbox : inboxes_) parcel ? inbox->deliver(*parcel, from_rank) : inbox->wake();
  if (relay_.passes_on_arrival(frame)) post(Relayed{frame, from_rank});
}

void Hub::fold(std::optional<WorkerId> origin) {
  for (Inbox<int>* inbox : inboxes_)
    inbox->fold([&](const Gradient& g) { return !origin || g.name.origin == *origin; },
                [this](const auto& waiting) { folded(waiting); });
}

void Hub::fold_bundles() {
  for (Inbox<int>* inbox : inboxes_)
    inbox->fold_bundles([this](const auto& waiting) { folded(waiting); });
}

void Hub::folded(const std::vector<Inbox<int>::Waiting>& waiting) {
  std::vector<GradientPtr> gradients;
  std::vector<int> from;
  for (const auto& w : waiting) {
    if (!w.parcel.gradient) continue;
    gradients.push_back(w.parcel.gradient);
    from.push_back(w.from);
  }
  applied(gradients, from);
}

void Hub::send_note(int rank, Bytes message) {
  const std::lock_guard lock(mutex_);
  post(Direct{rank, std::move(message)});
}

void Hub::post(Outgoing outgoing) {
  outbox_.push_back(std::move(outgoing));
  if (std::exchange(sleeping_, false)) posted_.notify_one();
}

bool Hub::take_outbox(std::vector<Outgoing>& to) {
  to.clear();
  const std::lock_guard lock(mutex_);
  std::swap(to, outbox_);
  return closed_;
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

std::optional<std::uint64_t> Hub::announced_total() const {
  const std::lock_guard lock(mutex_);
  return relay_.announced_total();
}

std::uint64_t Hub::copies_dropped(WorkerId worker) const {
  const std::lock_guard lock(mutex_);
  return layout_.local(worker) == 0 ? relay_.copies_dropped() : 0;
}

void Hub::count(GradientName name, std::size_t bytes) {
  const bool own = layout_.rank_of(name.origin) == self_;
  const std::lock_guard lock(mutex_);
  sent_[own ? layout_.local(name.origin) : 0] += {1, bytes};
}

Traffic Hub::sent(WorkerId worker) const {
  const std::lock_guard lock(mutex_);
  return sent_[layout_.local(worker)];
}

}  // namespace dasgd::mpi
