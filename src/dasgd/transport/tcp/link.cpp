#include "dasgd/transport/tcp/link.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <cassert>
#include <netinet/tcp.h>
#include <utility>

#include "dasgd/transport/tcp/address.hpp"

namespace dasgd::tcp {
namespace {

using Step = Advance::Step;
using boost::system::error_code;

constexpr std::size_t turn_bytes = 1 << 20;  // then it is another link's turn
constexpr const char* closed_here = "closed here";

}  // namespace

Link::Link(LinkId id, Socket socket, const Identity& identity, bool dialed, Owner& owner,
           LinkEvents& events, const SocketOptions& options)
    : id_(id),
      socket_(std::move(socket)),
      dialed_(dialed),
      stream_(make_stream(socket_.native_handle(), identity, dialed, options.rekey_bytes)),
      owner_(owner),
      events_(events),
      close_limit_(options.close_limit),
      start_(options.start),
      limits_(options.limits),
      timer_(socket_.get_executor()),
      reader_({.header = 0}) {  // a greeting is empty
  error_code gone;              // then reading will report it
  const auto endpoint = socket_.remote_endpoint(gone);
  remote_address_ = endpoint.address();
  remote_ = to_string(endpoint);
  socket_.native_non_blocking(true, gone);
  socket_.set_option(net::ip::tcp::no_delay(true), gone);
  // What waits for a thin network waits here, where it can still be summed up, not in the kernel.
  using UnsentLimit = net::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;
  socket_.set_option(UnsentLimit(static_cast<int>(most_unsent)), gone);
}

void Link::start(std::chrono::milliseconds limit) {
  limit_time(limit);
  later(&Link::shake_hands);
}

void Link::send(Bytes header, std::span<const std::byte> body, std::shared_ptr<const void> keeper) {
  assert(!header.empty());
  if (state_ != State::open) return;
  const FrameHead head = frame_head(header, body);
  enqueue({head, std::move(header), body, std::move(keeper)});
  if (!std::exchange(writing_, true)) later(&Link::write);
}

void Link::close() {
  if (state_ == State::ended || state_ == State::closing) return;
  if (state_ != State::open) return later(&Link::end_here);
  state_ = State::closing;
  limit_time(close_limit_);
  if (!std::exchange(writing_, true)) later(&Link::write);
}

void Link::abandon() {
  state_ = State::ended;
  timer_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

void Link::shake_hands() {
  const Advance progress = stream_->handshake();
  if (progress.step != Step::done) return stalled(progress, true);
  state_ = State::greeting;
  enqueue({.head = frame_head({}, {})});
  write();
  if (state_ != State::ended) read();
}

void Link::take(FrameReader::Step step) {
  if (step == FrameReader::Step::header) {
    const auto place = sink_->body(id_, reader_.header(), reader_.body_bytes(), now());
    if (!place) return end({Loss::refused_frame, "a frame was refused"});
    step = reader_.place(*place);
  }
  if (step == FrameReader::Step::refused) return end({Loss::refused_frame, reader_.refusal()});
  if (step != FrameReader::Step::frame) return;
  const Bytes header = reader_.take_header();
  if (!header.empty()) return sink_->received(id_, header, now());
  if (state_ != State::greeting) return end({Loss::closed, "the other side closed the link"});
  greeted();
}

void Link::greeted() {
  state_ = State::open;
  timer_.cancel();
  reader_.set_limits(limits_);
  sink_ = &owner_.linked(*this);
}

void Link::read() {
  reading_ = false;
  std::array<std::byte, 16 << 10> nowhere;  // nobody wants what comes after `close`
  for (std::size_t budget = turn_bytes; state_ != State::ended;) {
    const bool wanted = state_ != State::closing;
    const Advance progress = stream_->read(wanted ? reader_.wanted() : std::span(nowhere));
    if (progress.step != Step::done) return stalled(progress, true);
    received_bytes_ += progress.bytes;
    if (wanted) take(reader_.arrived(progress.bytes));
    if (progress.bytes >= budget) break;
    budget -= progress.bytes;
  }
  if (state_ != State::ended && !std::exchange(reading_, true)) later(&Link::read);
}

void Link::write() {
  writing_ = false;
  if (!write_queue()) return;
  if (!std::exchange(drained_, true) && state_ == State::open) events_.drained(id_);
  if (state_ != State::closing) return;
  if (!std::exchange(goodbye_said_, true)) {
    enqueue({.head = frame_head({}, {})});
    if (!write_queue()) return;
  }
  if (std::exchange(shut_down_, true)) return;
  stream_->end();
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
  read();  // until the other side has ended it too: closing now could take the goodbye with it
}

// Whether everything has left.
bool Link::write_queue() {
  if (state_ == State::ended) return false;
  std::size_t taken = 0;
  while (!queue_.empty()) {
    std::array<iovec, 256> pieces;
    const Advance progress = stream_->write(std::span(pieces).first(gather(pieces)));
    left(progress.bytes);
    taken += progress.bytes;
    if (progress.step != Step::done) {
      stalled(progress, false);
      return false;
    }
    if (taken >= turn_bytes) {
      if (!std::exchange(writing_, true)) later(&Link::write);
      return false;
    }
  }
  const Advance progress = stream_->flush();
  if (progress.step != Step::done) stalled(progress, false);
  return progress.step == Step::done;
}

// What is next, as pieces of one turn; returns how many.
std::size_t Link::gather(std::span<iovec> pieces) const {
  std::size_t count = 0, skip = front_left_, room = turn_bytes;
  for (const Outgoing& frame : queue_)
    for (const auto part : {std::span<const std::byte>(frame.head),
                            std::span<const std::byte>(frame.header), frame.body}) {
      const auto rest = part.subspan(std::min(skip, part.size()));
      skip -= part.size() - rest.size();
      if (rest.empty()) continue;
      const auto piece = rest.first(std::min(rest.size(), room));
      pieces[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};
      room -= piece.size();
      if (count == pieces.size() || room == 0) return count;
    }
  return count;
}

void Link::left(std::size_t bytes) {
  queued_ -= bytes;
  front_left_ += bytes;
  while (!queue_.empty() && front_left_ >= queue_.front().bytes()) {
    front_left_ -= queue_.front().bytes();
    queue_.pop_front();
  }
}

void Link::enqueue(Outgoing outgoing) {
  queued_ += outgoing.bytes();
  if (!outgoing.header.empty()) drained_ = false;
  queue_.push_back(std::move(outgoing));
}

void Link::stalled(const Advance& progress, bool reading) {
  switch (progress.step) {
    case Step::done:
      return;
    case Step::wants_read:
      return await_readable();
    case Step::wants_write:
      return await_writable();
    case Step::ended:
      if (state_ == State::closing) return end_here();
      if (state_ == State::open)
        return end({Loss::reset, "the connection ended without a goodbye"});
      return end({Loss::reset, "it ended the connection during the handshake"});
    case Step::failed:
      break;
  }
  const StreamFailure failure = stream_->failure();
  // What came before the connection broke is still there to be read, and may say why it did.
  if (!reading && state_ != State::shaking_hands) read();
  if (goodbye_said_) return end_here();
  end({failure.reset ? Loss::reset : Loss::failed, failure.why, failure.untrusted});
}

void Link::await_readable() {
  if (std::exchange(reading_, true)) return;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](error_code) {
    self->reading_ = false;
    if (self->state_ == State::ended) return;
    self->heard_ = true;
    self->state_ == State::shaking_hands ? self->shake_hands() : self->read();
  });
}

void Link::await_writable() {
  if (std::exchange(writing_, true)) return;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](error_code) {
    self->writing_ = false;
    if (self->state_ == State::ended) return;
    self->state_ == State::shaking_hands ? self->shake_hands() : self->write();
  });
}

void Link::later(void (Link::*what)()) {
  net::post(socket_.get_executor(), [self = shared_from_this(), what] {
    if (self->state_ != State::ended) (self.get()->*what)();
  });
}

void Link::limit_time(std::chrono::milliseconds limit) {
  timer_.expires_after(limit);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (cancelled || self->state_ == State::ended || self->state_ == State::open) return;
    if (self->state_ == State::closing) return self->end_here();
    self->end({.kind = Loss::failed, .why = "the handshake took too long", .timed_out = true});
  });
}

void Link::end_here() { end({Loss::closed, closed_here}); }

void Link::end(LinkEnd end) {
  if (state_ == State::ended) return;
  end.was_link = is_link();
  const auto self = shared_from_this();
  abandon();
  queue_.clear();
  owner_.ended(*this, end);
}

}  // namespace dasgd::tcp
