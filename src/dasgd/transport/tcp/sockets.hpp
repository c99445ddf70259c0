// Links to other processes over TCP: frames in order, mutual TLS, everything before the handshake
// bounded. Knows nothing of gradients.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dasgd/transport/tcp/frame.hpp"
#include "dasgd/transport/tcp/tls/identity.hpp"
#include "dasgd/transport/wires.hpp"

namespace boost::asio {
class io_context;
}

namespace dasgd::tcp {

enum class DialFailure {
  refused,      ///< connection refused: that machine says so
  unreachable,  ///< no way there, or no such name
  timed_out,
  untrusted,  ///< one side does not accept the certificate of the other; retrying is useless
  other,      ///< the connection ended before it was a link, for instance because too many waited
};

enum class Loss {
  closed,         ///< in order, by either side
  reset,          ///< the connection ended without a goodbye: that process or its machine died
  refused_frame,  ///< what arrived was not a frame, or `FrameSink::body` did not want it
  failed,
};

/// What happens to links; their frames go to a `FrameSink`. Both are called on the thread of the
/// io_context, never from within a call of `Sockets`; all calls of `Sockets` but its destructor are
/// allowed inside.
class LinkEvents {
 public:
  virtual ~LinkEvents() = default;
  /// Both sides have verified each other, and frames can be sent. Of a dial: instead of
  /// `dial_failed`. Returns who takes the frames that come, until it is lost.
  virtual FrameSink& linked(LinkId link, bool dialed, const std::string& remote) = 0;
  /// Once per dial that does not become a link.
  virtual void dial_failed(LinkId link, DialFailure kind, const std::string& why) = 0;
  /// Everything that was sent is in the kernel.
  virtual void drained(LinkId link) = 0;
  /// Once per link; the last that is heard of it. Also after `close`.
  virtual void lost(LinkId link, Loss kind, const std::string& why) = 0;
  /// A connection did not become a link: one line. The first few are reported, then one a
  /// minute at most, with how many there were.
  virtual void refused(const std::string& line) { static_cast<void>(line); }
};

struct SocketOptions {
  std::chrono::milliseconds dial_limit{5000};       ///< from the name to the end of the handshake
  std::chrono::milliseconds handshake_limit{5000};  ///< of those who connect to us
  std::chrono::milliseconds close_limit{5000};      ///< for what is queued when a link is closed
  std::size_t half_open = 64;          ///< connections that are not yet verified, at once
  double connections_per_second = 50;  ///< from one address (IPv6: one /64), and twice that at once
  /// Renews the keys of TLS after so many bytes: AES-GCM wants it before 2^24.5 records (RFC 8446,
  /// 5.5), some 380 GB.
  std::uint64_t rekey_bytes = std::uint64_t{64} << 30;
  FrameLimits limits;
  /// From here the moments count at which frames come.
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

/// A port of this machine that is taken; whoever connects waits until `Sockets` listens there.
class ListeningPort {
 public:
  /// An IP address or localhost, and a port (0: any free one); without TLS only of this machine.
  /// Throws InputError.
  ListeningPort(const std::string& address, bool encrypted);
  ~ListeningPort();
  ListeningPort(const ListeningPort&) = delete;
  ListeningPort& operator=(const ListeningPort&) = delete;

 private:
  friend class Sockets;
  bool is_v6_ = false;
  int descriptor_ = -1;
};

/// All links of a process. Everything is called on the thread that runs the io_context.
class Sockets final : public Wires {
 public:
  Sockets(boost::asio::io_context& context, Identity identity, LinkEvents& events,
          SocketOptions options = {});
  /// Closes everything at once; no events.
  ~Sockets() override;
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  /// Takes the port over. Returns the address with the port it got. May be called for several.
  std::string listen(ListeningPort& port);
  /// See Port. Throws InputError.
  std::string listen(const std::string& address);
  /// Host names are looked up. Every error goes to `dial_failed`.
  LinkId dial(const std::string& address) override;

  /// Who this process is on links to come; those that there are stay.
  void set_identity(Identity identity);

  void send(LinkId link, Bytes header, std::span<const std::byte> body = {},
            std::shared_ptr<const void> keeper = {}) override;
  /// Bytes that the kernel has not taken yet.
  std::size_t queued_bytes(LinkId link) const override;
  /// What was sent before leaves within the limit, and the other side hears a goodbye. `lost`
  /// follows, or `dial_failed`; nothing else does.
  void close(LinkId link) override;

  /// Of a link that is gone: none.
  std::uint64_t received_bytes(LinkId link) const;
  /// What the other side's certificate says.
  PeerName peer(LinkId link) const;
  /// Connections that wait for the end of their handshake.
  std::size_t half_open() const;

 private:
  class Implementation;
  std::shared_ptr<Implementation> implementation_;  // handlers hold it weakly
};

}  // namespace dasgd::tcp
