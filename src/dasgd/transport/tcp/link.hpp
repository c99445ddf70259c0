// One connection, from the handshake to its end.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "dasgd/transport/tcp/sockets.hpp"
#include "dasgd/transport/tcp/stream.hpp"

namespace dasgd::tcp {

namespace net = boost::asio;
using Socket = net::ip::tcp::socket;

/// How a connection ended. Before it was a link the owner makes a `DialFailure` of it, or counts
/// it.
struct LinkEnd {
  Loss kind = Loss::failed;
  std::string why;
  bool untrusted = false, timed_out = false;
  bool was_link = false;
};

/// Beyond the handshake each side sends an empty frame, so that both know of the other that it has
/// verified them; a second empty frame is a goodbye.
///
/// Kept alive by what it waits for, until it has ended.
class Link final : public std::enable_shared_from_this<Link> {
 public:
  /// Hears of everything, never from within a call.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// Who takes its frames.
    virtual FrameSink& linked(Link& link) = 0;
    virtual void ended(Link& link, const LinkEnd& end) = 0;
  };

  /// The socket is connected.
  Link(LinkId id, Socket socket, const Identity& identity, bool dialed, Owner& owner,
       LinkEvents& events, const SocketOptions& options);

  /// Begins with the handshake, which is over after `limit` or never.
  void start(std::chrono::milliseconds limit);
  void send(Bytes header, std::span<const std::byte> body, std::shared_ptr<const void> keeper);
  void close();
  /// At once and without a word to anybody.
  void abandon();

  LinkId id() const { return id_; }
  bool dialed() const { return dialed_; }
  bool is_link() const { return state_ == State::open || state_ == State::closing; }
  /// Whether the other side has sent anything.
  bool heard() const { return heard_; }
  const std::string& remote() const { return remote_; }
  const net::ip::address& remote_address() const { return remote_address_; }
  std::size_t queued_bytes() const { return queued_ + stream_->held_back(); }
  std::uint64_t received_bytes() const { return received_bytes_; }
  PeerName peer() const { return stream_->peer(); }

 private:
  enum class State { shaking_hands, greeting, open, closing, ended };
  struct Outgoing {
    FrameHead head;
    Bytes header;
    std::span<const std::byte> body;
    std::shared_ptr<const void> keeper;

    std::size_t bytes() const { return head.size() + header.size() + body.size(); }
  };

  Nanoseconds now() const { return (std::chrono::steady_clock::now() - start_).count(); }
  void shake_hands();
  void read();
  void take(FrameReader::Step step);
  void greeted();
  void write();
  bool write_queue();
  std::size_t gather(std::span<iovec> pieces) const;
  void left(std::size_t bytes);
  void enqueue(Outgoing outgoing);
  void stalled(const Advance& progress, bool reading);
  void await_readable();
  void await_writable();
  void later(void (Link::*what)());
  void limit_time(std::chrono::milliseconds limit);
  void end_here();
  void end(LinkEnd end);

  const LinkId id_;
  Socket socket_;
  const bool dialed_;
  std::unique_ptr<Stream> stream_;
  Owner& owner_;
  LinkEvents& events_;
  FrameSink* sink_ = nullptr;  // once it is a link
  const std::chrono::milliseconds close_limit_;
  const std::chrono::steady_clock::time_point start_;
  const FrameLimits limits_;
  net::ip::address remote_address_;
  std::string remote_;
  net::steady_timer timer_;

  State state_ = State::shaking_hands;
  FrameReader reader_;
  bool heard_ = false;
  bool reading_ = false, writing_ = false;  // a handler waits for it
  std::deque<Outgoing> queue_;
  std::size_t front_left_ = 0;  // bytes of the first one that have left
  std::size_t queued_ = 0;      // bytes of all that have not
  bool drained_ = true, goodbye_said_ = false, shut_down_ = false;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace dasgd::tcp
