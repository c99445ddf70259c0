// Bytes to and from the other side over a connected socket that does not block: as they are, or
// through TLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <sys/uio.h>

#include "dasgd/transport/tcp/tls/identity.hpp"

namespace dasgd::tcp {

/// How far a call came.
struct Advance {
  enum class Step {
    done,
    wants_read,   ///< call again when the socket can be read: a handshake or a read
    wants_write,  ///< or written: a handshake, a write or a flush
    ended,        ///< the other side sends no more
    failed,       ///< see Stream::failure
  };
  Step step = Step::done;
  std::size_t bytes = 0;  ///< that were taken, however it went on
};

struct StreamFailure {
  bool reset = false;      ///< the connection broke
  bool untrusted = false;  ///< one side does not accept the certificate of the other
  std::string why;
};

/// After `ended` or `failed` nothing more is asked of it. SIGPIPE is never raised.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Until it is done nothing can be read or written.
  virtual Advance handshake() = 0;
  /// Takes at most as many bytes as there is room for.
  virtual Advance read(std::span<std::byte> to) = 0;
  /// Takes the pieces in order, as far as it goes, without copying large ones.
  virtual Advance write(std::span<const iovec> pieces) = 0;
  /// Hands what was taken and is held back to the kernel.
  virtual Advance flush() = 0;
  /// Bytes that were taken and are held back.
  virtual std::size_t held_back() const = 0;
  /// Lets the other side know that nothing follows, as far as that goes at once.
  virtual void end() = 0;
  virtual PeerName peer() const = 0;

  const StreamFailure& failure() const { return failure_; }

 protected:
  Advance fail(StreamFailure failure) {
    failure_ = std::move(failure);
    return {Advance::Step::failed};
  }

 private:
  StreamFailure failure_;
};

/// Over a socket that outlives it; keys are renewed after so many bytes.
std::unique_ptr<Stream> make_stream(int socket, const Identity& identity, bool dialed,
                                    std::uint64_t rekey_bytes);

}  // namespace dasgd::tcp
