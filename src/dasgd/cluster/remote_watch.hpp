// What the live page is to see of a rank that does not show it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "dasgd/cluster/messages.hpp"
#include "dasgd/record/trace/trace_sink.hpp"
#include "dasgd/transport/mpi/layout.hpp"

namespace dasgd::cluster {

/// Sends applications of this rank's workers to rank 0, up to a rate that a page can use: what
/// comes faster is counted and left out, so neither memory nor messages grow with the speed of
/// training. Every worker calls it from its own thread only and has a buffer of its own.
class RemoteWatch final : public ApplicationSink {
 public:
  static constexpr std::size_t lines_at_once = 1'000;
  static constexpr Nanoseconds every = 100'000'000;

  RemoteWatch(const mpi::RankLayout& layout, std::function<void(const Message&)> send)
      : layout_(layout), send_(std::move(send)), pieces_(layout.per_rank) {}

  void add(WorkerId worker, std::vector<TraceLine> lines, Nanoseconds up_to) override {
    Piece& piece = pieces_[layout_.local(worker)];
    TracePart& content = piece.content;
    content.worker = worker;
    content.up_to = up_to;
    const std::size_t fits = std::min(lines.size(), lines_at_once - content.lines.size());
    content.lines.insert(content.lines.end(), lines.begin(),
                         lines.begin() + static_cast<std::ptrdiff_t>(fits));
    content.left_out += lines.size() - fits;
    if (up_to - piece.sent >= every) send(piece);
  }

  /// Sends what is left, when all workers have ended.
  void flush() {
    for (Piece& piece : pieces_) send(piece);
  }

 private:
  struct Piece {
    TracePart content;
    Nanoseconds sent = 0;
  };
  void send(Piece& piece) {
    piece.sent = piece.content.up_to;
    if (piece.content.lines.empty()) return;
    send_(piece.content);
    piece.content.lines.clear();
    piece.content.left_out = 0;
  }

  const mpi::RankLayout layout_;
  const std::function<void(const Message&)> send_;
  std::vector<Piece> pieces_;
};

}  // namespace dasgd::cluster
