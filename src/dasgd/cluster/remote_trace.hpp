// The trace of a rank that does not write it.
#pragma once

#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "dasgd/cluster/messages.hpp"
#include "dasgd/cluster/trace_window.hpp"
#include "dasgd/record/trace/trace_sink.hpp"
#include "dasgd/transport/mpi/layout.hpp"

namespace dasgd::cluster {

/// Sends the lines of this rank's workers to rank 0, in pieces that are worth a message. Every
/// worker calls it from its own thread only and has a buffer of its own.
class RemoteTrace final : public TraceSink {
 public:
  /// `window` must outlive this.
  RemoteTrace(const mpi::RankLayout& layout, std::function<void(const Message&)> send,
              TraceWindow& window)
      : layout_(layout), send_(std::move(send)), window_(window), pieces_(layout.per_rank) {}

  std::size_t sources() const override { return layout_.workers(); }
  std::exception_ptr failure() const override { return nullptr; }

  void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) override {
    Piece& piece = pieces_[layout_.local(worker)];
    piece.content.worker = worker;
    piece.content.up_to = up_to;
    piece.content.lines.insert(piece.content.lines.end(), lines.begin(), lines.end());
    if (piece.content.lines.size() >= lines_at_once || up_to - piece.sent >= every) send(piece);
  }

  /// Sends what is left, when all workers have ended.
  void flush() {
    for (Piece& piece : pieces_) send(piece);
  }

 private:
  static constexpr std::size_t lines_at_once = 512;
  static constexpr Nanoseconds every = 20'000'000;

  struct Piece {
    TracePart content;
    Nanoseconds sent = 0;
  };
  void send(Piece& piece) {
    piece.sent = piece.content.up_to;
    if (!piece.content.lines.empty()) window_.send(piece.content.lines.size());
    send_(piece.content);
    piece.content.lines.clear();
  }

  const mpi::RankLayout layout_;
  const std::function<void(const Message&)> send_;
  TraceWindow& window_;
  std::vector<Piece> pieces_;
};

}  // namespace dasgd::cluster
