#include "dasgd/cluster/rank_control.hpp"

#include <fmt/format.h>
#include <stdexcept>
#include <utility>
#include <variant>

namespace dasgd::cluster {

RankControl::RankControl(const mpi::RankLayout& layout, int self, const TrainOptions& options,
                         Control& control, Outside outside)
    : layout_(layout),
      self_(self),
      trace_(options.trace),
      watch_(options.watch),
      control_(control),
      outside_(std::move(outside)),
      ranks_without_target_(layout.ranks),
      memories_(layout, self, [this](int rank, const Message& m) { send(rank, m); }),
      reader_([this](int from, const Bytes& note) { read(from, note); }, outside_.failed) {}

void RankControl::send_to_others(const Message& message) {
  for (int rank = 0; rank < layout_.ranks; ++rank)
    if (rank != self_) send(rank, message);
}

void RankControl::stopped() {
  window_.open();
  if (stop_is_known_.exchange(true)) return;
  if (outside_.log) outside_.log("stops the run: " + to_string(*control_.reason()));
  send_to_others(Stop{*control_.reason()});
}

void RankControl::target_reached() {
  if (self_ != 0) {
    send_to_first(TargetReached{});
  } else if (ranks_without_target_.fetch_sub(1) == 1) {
    control_.stop(StopReason::target);
  }
}

void RankControl::report(const std::vector<WorkerView>& here) {
  if (self_ != 0) send_to_first(Views{here});
}

std::vector<WorkerView> RankControl::views() {
  const std::lock_guard lock(mutex_);
  std::vector<WorkerView> all;
  for (const auto& [rank, views] : views_) all.insert(all.end(), views.begin(), views.end());
  return all;
}

std::map<int, RankReport> RankControl::take_reports() {
  reader_.finish();
  return std::exchange(reports_, {});
}

void RankControl::read(int from, const Bytes& note) {
  auto message = decode(note);
  if (!message)
    throw std::runtime_error(fmt::format("rank {} sent a malformed control message", from));
  std::visit([&](auto& content) { heard(from, std::move(content)); }, *message);
}

void RankControl::heard(int, Stop stop) {
  stop_is_known_ = true;
  control_.stop(stop.reason);
}

void RankControl::heard(int, TargetReached) { target_reached(); }

void RankControl::heard(int from, Views views) {
  const std::lock_guard lock(mutex_);
  views_[from] = std::move(views.workers);
}

// A trace is whole; then the page takes the same pieces.
void RankControl::heard(int from, TracePart piece) {
  const std::uint64_t lines = piece.lines.size();
  if (watch_) {
    watch_->add(piece.worker, piece.lines, piece.up_to);
    watch_->leave_out(piece.left_out);
  }
  if (!trace_) return;
  trace_->add(piece.worker, std::move(piece.lines), piece.up_to);
  if (lines > 0) send(from, TraceAck{lines});
}

void RankControl::heard(int from, RankReport report) {
  const std::lock_guard lock(mutex_);
  reports_[from] = std::move(report);
}

void RankControl::heard(int, StateRequest wanted) { memories_.hear(wanted); }

void RankControl::heard(int from, StatePart piece) {
  if (!memories_.hear(from, std::move(piece)))
    throw std::runtime_error(fmt::format("rank {} reported a worker of another rank", from));
}

void RankControl::heard(int, TraceAck taken) { window_.taken(taken.lines); }

void RankControl::heard(int, EarlyLoss loss) { outside_.early_loss(loss.size); }

void RankControl::heard(int from, GivenValue given) {
  if (outside_.value) outside_.value(from, std::move(given.value));
}

}  // namespace dasgd::cluster
