// The two calls that move bytes, without signals and without waiting.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <sys/socket.h>

#include "dasgd/transport/tcp/stream.hpp"

namespace dasgd::tcp {

inline bool would_block(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

struct Sent {
  std::size_t bytes = 0;  ///< fewer than given: the kernel has no room for more
  int error = 0;
};
inline Sent send_some(int socket, const msghdr& message) {
  for (;;) {
    const auto sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return {static_cast<std::size_t>(sent), 0};
    if (errno != EINTR) return {0, would_block(errno) ? 0 : errno};
  }
}

struct ReceivedBytes {
  std::size_t bytes = 0;  ///< none: nothing is there yet
  int error = 0;
  bool ended = false;
};
inline ReceivedBytes receive_some(int socket, std::span<std::byte> to) {
  for (;;) {
    const auto got = ::recv(socket, to.data(), to.size(), MSG_DONTWAIT);
    if (got > 0) return {static_cast<std::size_t>(got)};
    if (got == 0) return {.ended = true};
    if (errno != EINTR) return {.error = would_block(errno) ? 0 : errno};
  }
}

inline StreamFailure broken(int error) {
  const bool reset = error == ECONNRESET || error == EPIPE || error == ECONNABORTED;
  return {.reset = reset, .why = reset ? "the connection was reset" : std::strerror(error)};
}

}  // namespace dasgd::tcp
