#include "dasgd/transport/tcp/plain_stream.hpp"

#include <algorithm>
#include <cstring>
#include <sys/socket.h>

#include "dasgd/transport/tcp/socket_calls.hpp"

namespace dasgd::tcp {
namespace {

constexpr std::size_t small_read = 16 << 10, read_ahead = 64 << 10;

}  // namespace

Advance PlainStream::read(std::span<std::byte> to) {
  if (ahead_.empty()) {
    if (to.size() >= small_read) return receive(to);  // where it stays, at once
    buffer_.resize(read_ahead);
    const Advance got = receive(buffer_);
    if (got.step != Advance::Step::done) return got;
    ahead_ = std::span(buffer_).first(got.bytes);
  }
  const std::size_t count = std::min(to.size(), ahead_.size());
  std::memcpy(to.data(), ahead_.data(), count);
  ahead_ = ahead_.subspan(count);
  return {Advance::Step::done, count};
}

Advance PlainStream::receive(std::span<std::byte> to) {
  const ReceivedBytes got = receive_some(socket_, to);
  if (got.error != 0) return fail(broken(got.error));
  if (got.ended) return {Advance::Step::ended};
  if (got.bytes == 0) return {Advance::Step::wants_read};
  return {Advance::Step::done, got.bytes};
}

Advance PlainStream::write(std::span<const iovec> pieces) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  const Sent sent = send_some(socket_, message);
  if (sent.error != 0) return fail(broken(sent.error));
  std::size_t all = 0;
  for (const iovec& piece : pieces) all += piece.iov_len;
  return {sent.bytes < all ? Advance::Step::wants_write : Advance::Step::done, sent.bytes};
}

}  // namespace dasgd::tcp
