#include "dasgd/transport/tcp/sockets.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <random>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dasgd/base/input_error.hpp"
#include "dasgd/transport/tcp/address.hpp"
#include "dasgd/transport/tcp/connection_limiter.hpp"
#include "dasgd/transport/tcp/dial.hpp"
#include "dasgd/transport/tcp/link.hpp"

namespace dasgd::tcp {
namespace {

using boost::system::error_code;

constexpr auto out_of_descriptors_nap = std::chrono::milliseconds(200);

std::uint64_t draw_salt() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

void open_at(net::ip::tcp::acceptor& acceptor, const net::ip::tcp::endpoint& endpoint) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(net::ip::tcp::acceptor::reuse_address(true), error);
  if (!error && endpoint.address().is_v6() && endpoint.address().is_unspecified())
    acceptor.set_option(net::ip::v6_only(false), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(net::socket_base::max_listen_connections, error);
  if (error == net::error::address_in_use)
    throw InputError(fmt::format(
        "{} is in use by another program; choose another port, or 0 for any", to_string(endpoint)));
  if (error)
    throw InputError(fmt::format("cannot listen on {}: {}", to_string(endpoint), error.message()));
}

// No one waits for the last bytes of a refused connection; its destructor would.
void drop(Socket socket) {
  error_code ignored;
  socket.set_option(net::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

}  // namespace

ListeningPort::ListeningPort(const std::string& text, bool encrypted) {
  const Address address = Address::parse(text);
  const auto literal = address.literal();
  if (!literal)
    throw InputError(fmt::format(
        "\"{}\" is not an IP address; listen on one of this machine, or on 0.0.0.0 for all",
        address.host));
  if (!encrypted && !stays_here(*literal))
    throw InputError(fmt::format(
        "{}: without TLS only addresses of this machine are allowed; use 127.0.0.1, or a token",
        text));
  net::io_context context;
  net::ip::tcp::acceptor acceptor(context);
  open_at(acceptor, {*literal, static_cast<unsigned short>(std::stoul(address.port))});
  is_v6_ = literal->is_v6();
  descriptor_ = acceptor.release();
}

ListeningPort::~ListeningPort() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

/// Handlers hold it weakly: they may run when it is gone.
class Sockets::Implementation final : public Link::Owner,
                                      public std::enable_shared_from_this<Implementation> {
 public:
  Implementation(net::io_context& context, Identity identity, LinkEvents& events,
                 SocketOptions options)
      : context_(context),
        identity_(std::move(identity)),
        events_(events),
        options_(options),
        connection_limiter_(options.connections_per_second, draw_salt()) {}

  std::string listen(bool is_v6, int descriptor) {
    const auto listener = std::make_shared<Listener>(context_);
    listener->acceptor.assign(is_v6 ? net::ip::tcp::v6() : net::ip::tcp::v4(), descriptor);
    listeners_.push_back(listener);
    accept(listener);
    return to_string(listener->acceptor.local_endpoint());
  }

  bool encrypted() const { return identity_.encrypted(); }

  LinkId dial(const std::string& address) {
    const LinkId id{next_++};
    const auto dial = std::make_shared<Dial>(context_, address, !identity_.encrypted());
    dials_[id] = dial;
    const auto here = weak_from_this();
    dial->start(
        options_.dial_limit,
        [here, id](Socket socket, std::chrono::milliseconds left) {
          if (const auto self = here.lock()) self->connected(id, std::move(socket), left);
        },
        [here, id](DialFailure kind, const std::string& why) {
          if (const auto self = here.lock()) self->dial_failed(id, kind, why);
        });
    return id;
  }

  void close(LinkId id) {
    if (Link* const link = find(id)) return link->close();
    const auto dial = dials_.find(id);
    if (dial == dials_.end()) return;
    dial->second->cancel();
    net::post(context_, [here = weak_from_this(), id] {
      if (const auto self = here.lock()) self->dial_failed(id, DialFailure::other, "closed here");
    });
  }

  Link* find(LinkId id) const {
    const auto found = links_.find(id);
    return found == links_.end() ? nullptr : found->second.get();
  }
  std::size_t half_open() const { return half_open_.size(); }
  void set_identity(Identity identity) { identity_ = std::move(identity); }

  void abandon() {
    for (const auto& listener : listeners_) listener->close();
    for (const auto& [id, dial] : dials_) dial->cancel();
    for (const auto& [id, link] : links_) link->abandon();
  }

 private:
  struct Listener {
    explicit Listener(net::io_context& context) : acceptor(context), timer(context) {}
    void close() {  // what waits for it keeps it alive
      error_code ignored;
      acceptor.close(ignored);
      timer.cancel();
    }

    net::ip::tcp::acceptor acceptor;
    net::steady_timer timer;
  };

  void accept(const std::shared_ptr<Listener>& listener) {
    listener->acceptor.async_accept(
        [here = weak_from_this(), listener](error_code error, Socket socket) {
          const auto self = here.lock();
          if (!self || error == net::error::operation_aborted) return;
          if (error) return self->nap(listener);
          self->knocked(std::move(socket));
          self->accept(listener);
        });
  }
  // Out of descriptors, most likely: others will be closed in a while.
  void nap(const std::shared_ptr<Listener>& listener) {
    listener->timer.expires_after(out_of_descriptors_nap);
    listener->timer.async_wait([here = weak_from_this(), listener](error_code stopped) {
      const auto self = here.lock();
      if (self && !stopped) self->accept(listener);
    });
  }

  void knocked(Socket socket) {
    error_code gone;
    const auto endpoint = socket.remote_endpoint(gone);
    if (gone) return;
    if (!connection_limiter_.admits(endpoint.address(), std::chrono::steady_clock::now())) {
      drop(std::move(socket));
      return report_refused(to_string(endpoint), "too many connections from there");
    }
    make_room(endpoint.address());
    const auto link = add(LinkId{next_++}, std::move(socket), false);
    half_open_.push_back(link);
    link->start(options_.handshake_limit);
  }

  // One address gets half of the places. Silent connections go first, then the oldest.
  void make_room(const net::ip::address& address) {
    const auto of_address = [&](const auto& link) { return link->remote_address() == address; };
    const auto anybody = [](const auto&) { return true; };
    const auto count = std::count_if(half_open_.begin(), half_open_.end(), of_address);
    if (static_cast<std::size_t>(count) >= std::max<std::size_t>(1, options_.half_open / 2))
      return evict(of_address);
    if (half_open_.size() >= options_.half_open) evict(anybody);
  }
  template <typename Kind>
  void evict(Kind&& of_kind) {
    auto oldest = std::find_if(half_open_.begin(), half_open_.end(),
                               [&](const auto& link) { return of_kind(link) && !link->heard(); });
    if (oldest == half_open_.end())
      oldest = std::find_if(half_open_.begin(), half_open_.end(), of_kind);
    const auto link = *oldest;
    link->abandon();
    forget(*link);
    report_refused(link->remote(), "too many connections wait for their handshake");
  }

  void connected(LinkId id, Socket socket, std::chrono::milliseconds left) {
    const auto dial = dials_.extract(id);
    addresses_[id] = dial.mapped()->address();
    add(id, std::move(socket), true)->start(left);
  }
  void dial_failed(LinkId id, DialFailure kind, const std::string& why) {
    const auto dial = dials_.extract(id);
    if (!dial.empty())
      events_.dial_failed(id, kind, fmt::format("{}: {}", dial.mapped()->address(), why));
  }
  std::shared_ptr<Link> add(LinkId id, Socket socket, bool dialed) {
    return links_[id] = std::make_shared<Link>(id, std::move(socket), identity_, dialed, *this,
                                               events_, options_);
  }

  FrameSink& linked(Link& link) override {
    std::erase_if(half_open_, [&](const auto& other) { return other.get() == &link; });
    addresses_.erase(link.id());
    return events_.linked(link.id(), link.dialed(), link.remote());
  }
  void ended(Link& link, const LinkEnd& end) override {
    const auto address = addresses_.extract(link.id());
    forget(link);
    if (end.was_link) return events_.lost(link.id(), end.kind, end.why);
    if (!link.dialed()) return report_refused(link.remote(), end.why);
    const DialFailure kind = end.untrusted   ? DialFailure::untrusted
                             : end.timed_out ? DialFailure::timed_out
                                             : DialFailure::other;
    events_.dial_failed(link.id(), kind, fmt::format("{}: {}", address.mapped(), end.why));
  }
  void forget(Link& link) {
    std::erase_if(half_open_, [&](const auto& other) { return other.get() == &link; });
    links_.erase(link.id());
  }

  void report_refused(const std::string& remote, const std::string& why) {
    if (const auto line =
            connection_limiter_.refused(remote, why, std::chrono::steady_clock::now()))
      events_.refused(*line);
  }

  net::io_context& context_;
  Identity identity_;
  LinkEvents& events_;
  const SocketOptions options_;
  ConnectionLimiter connection_limiter_;
  std::uint64_t next_ = 1;
  std::vector<std::shared_ptr<Listener>> listeners_;
  std::unordered_map<LinkId, std::shared_ptr<Dial>> dials_;
  std::unordered_map<LinkId, std::string> addresses_;  // of dials that are connected
  std::unordered_map<LinkId, std::shared_ptr<Link>> links_;
  std::vector<std::shared_ptr<Link>> half_open_;  // the oldest first
};

Sockets::Sockets(net::io_context& context, Identity identity, LinkEvents& events,
                 SocketOptions options)
    : implementation_(
          std::make_shared<Implementation>(context, std::move(identity), events, options)) {}
Sockets::~Sockets() { implementation_->abandon(); }

std::string Sockets::listen(ListeningPort& port) {
  return implementation_->listen(port.is_v6_, std::exchange(port.descriptor_, -1));
}
std::string Sockets::listen(const std::string& address) {
  ListeningPort port(address, implementation_->encrypted());
  return listen(port);
}
LinkId Sockets::dial(const std::string& address) { return implementation_->dial(address); }
void Sockets::close(LinkId link) { implementation_->close(link); }
void Sockets::set_identity(Identity identity) {
  implementation_->set_identity(std::move(identity));
}
std::size_t Sockets::half_open() const { return implementation_->half_open(); }

void Sockets::send(LinkId id, Bytes header, std::span<const std::byte> body,
                   std::shared_ptr<const void> keeper) {
  if (Link* const link = implementation_->find(id))
    link->send(std::move(header), body, std::move(keeper));
}
std::size_t Sockets::queued_bytes(LinkId id) const {
  const Link* const link = implementation_->find(id);
  return link ? link->queued_bytes() : 0;
}
std::uint64_t Sockets::received_bytes(LinkId id) const {
  const Link* const link = implementation_->find(id);
  return link ? link->received_bytes() : 0;
}
PeerName Sockets::peer(LinkId id) const {
  const Link* const link = implementation_->find(id);
  return link ? link->peer() : PeerName{};
}

}  // namespace dasgd::tcp
