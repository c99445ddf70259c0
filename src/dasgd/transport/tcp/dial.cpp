#include "dasgd/transport/tcp/dial.hpp"

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "dasgd/base/input_error.hpp"
#include "dasgd/transport/tcp/address.hpp"

namespace dasgd::tcp {
namespace {

using boost::system::error_code;

DialFailure kind_of(error_code error) {
  if (error == net::error::connection_refused) return DialFailure::refused;
  if (error == net::error::timed_out) return DialFailure::timed_out;
  if (error == net::error::host_unreachable || error == net::error::network_unreachable ||
      error == net::error::network_down || error == net::error::host_not_found ||
      error == net::error::host_not_found_try_again || error == net::error::no_data)
    return DialFailure::unreachable;
  return DialFailure::other;
}

}  // namespace

Dial::Dial(net::io_context& context, std::string address, bool only_here)
    : address_(std::move(address)),
      only_here_(only_here),
      resolver_(context),
      socket_(context),
      timer_(context) {}

void Dial::start(std::chrono::milliseconds limit, Connected connected, Failed failed) {
  connected_ = std::move(connected);
  failed_ = std::move(failed);
  timer_.expires_after(limit);
  timer_.async_wait([self = shared_from_this()](error_code cancelled) {
    if (!cancelled) self->fail(DialFailure::timed_out, "no answer in time");
  });
  net::post(socket_.get_executor(), [self = shared_from_this()] {
    if (!self->over_) self->look_up();
  });
}

void Dial::cancel() {
  over_ = true;
  timer_.cancel();
  resolver_.cancel();
  error_code ignored;
  socket_.close(ignored);
  connected_ = nullptr;
  failed_ = nullptr;
}

void Dial::look_up() {
  Address wanted;
  try {
    wanted = Address::parse(address_);
  } catch (const InputError& error) {
    return fail(DialFailure::other, error.what());
  }
  const auto port = static_cast<unsigned short>(std::stoul(wanted.port));
  if (const auto literal = wanted.literal()) return connect({{*literal, port}});
  resolver_.async_resolve(
      wanted.host, wanted.port, net::ip::tcp::resolver::numeric_service,
      [self = shared_from_this()](error_code error, const net::ip::tcp::resolver::results_type& r) {
        if (self->over_) return;
        error ? self->fail(error) : self->connect({r.begin(), r.end()});
      });
}

void Dial::connect(Endpoints endpoints) {
  if (only_here_ && !std::all_of(endpoints.begin(), endpoints.end(),
                                 [](const auto& e) { return stays_here(e.address()); }))
    return fail(DialFailure::other, "without TLS only connections on this machine are allowed");
  net::async_connect(
      socket_, endpoints, [self = shared_from_this()](error_code error, const auto&) {
        if (self->over_) return;
        if (error) return self->fail(error);
        const auto left = self->timer_.expiry() - std::chrono::steady_clock::now();
        const auto connected = self->connected_;
        Socket socket = std::move(self->socket_);
        self->cancel();
        connected(std::move(socket), std::chrono::ceil<std::chrono::milliseconds>(left));
      });
}

void Dial::fail(error_code error) {
  const DialFailure kind = kind_of(error);
  fail(kind, kind == DialFailure::refused ? "connection refused" : error.message());
}

void Dial::fail(DialFailure kind, const std::string& why) {
  if (over_) return;
  const auto failed = failed_;
  cancel();
  failed(kind, why);
}

}  // namespace dasgd::tcp
