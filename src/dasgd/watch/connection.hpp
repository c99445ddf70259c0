// One connection of the live view, on the thread of the server.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dasgd/watch/gate.hpp"
#include "dasgd/watch/http_request.hpp"
#include "dasgd/watch/server.hpp"

namespace dasgd::watch {
namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using tcp = net::ip::tcp;
using boost::system::error_code;
using Text = std::shared_ptr<const std::string>;

/// What all connections share. Lives on the thread of the server, but for what is atomic.
struct Shared {
  Shared(const ServerOptions& given, bool loopback)
      : options(given), gate(given.token, given.require_token || !loopback, loopback) {}

  const ServerOptions options;
  const Gate gate;
  Text frame;  // as an event; null before the first one
  std::uint64_t version = 0;
  std::string metrics;
  bool closing = false;
  std::atomic<std::size_t> listeners{0};
};

/// One connection: a request, its answer, and for events all frames that it can take.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, Shared& shared, std::function<void(Connection*)> on_end)
      : stream_(std::move(socket)), shared_(shared), on_end_(std::move(on_end)) {
    error_code gone;  // then it has no address, and its request never comes
    client_ = stream_.socket().remote_endpoint(gone).address();
    port_ = stream_.socket().local_endpoint(gone).port();
    set_limits(parser_);
  }

  void start() {
    patience();
    http::async_read(
        stream_, buffer_, parser_,
        [self = shared_from_this()](error_code error, std::size_t) { self->on_request(error); });
  }

  /// Too many are here already.
  void turn_away() {
    idle_ = false;
    answer(503, "too many connections; close another page first\n", "text/plain; charset=utf-8");
  }

  /// There is a newer frame, or the server closes.
  void wake() {
    if (listening_ && !sending_) send_frame();
  }
  void close() {
    error_code ignored;
    stream_.socket().close(ignored);
  }
  /// Makes room for somebody else.
  void drop() { end(); }

  /// Whether it has asked for nothing yet, or has its answer.
  bool idle() const { return idle_; }
  const net::ip::address& client() const { return client_; }

 private:
  void patience() { stream_.expires_after(std::chrono::seconds(shared_.options.patience_seconds)); }

  void on_request(error_code error) {
    idle_ = false;
    if (error == http::error::header_limit || error == http::error::body_limit)
      return answer(413, "the request is too large\n", "text/plain; charset=utf-8");
    if (error.category() == http::make_error_code(http::error::end_of_stream).category() &&
        error != http::error::end_of_stream)
      return answer(400, "this is not HTTP\n", "text/plain; charset=utf-8");
    if (error) return end();
    const Request request = read_request(parser_.get(), port_);
    const Decision decision = shared_.gate.decide(request);
    if (decision.refusal)
      return answer(decision.refusal->status, decision.refusal->why + "\n",
                    "text/plain; charset=utf-8");
    switch (*decision.resource) {
      case Resource::page:
        return answer(200, shared_.options.page, "text/html; charset=utf-8");
      case Resource::metrics:
        return answer(200, shared_.metrics, "text/plain; version=0.0.4; charset=utf-8");
      case Resource::stop:
        if (shared_.options.on_stop) shared_.options.on_stop();
        return answer(202, "the run stops; gradients in flight are still applied\n",
                      "text/plain; charset=utf-8");
      case Resource::events:
        return listen();
    }
  }

  template <typename Message>
  void set_common(Message& message, unsigned status, const char* type) {
    message.version(11);
    message.result(status);
    message.set(http::field::content_type, type);
    message.set(http::field::cache_control, "no-store");
    message.set(http::field::connection, "close");
    message.set("X-Content-Type-Options", "nosniff");
    message.set("X-Frame-Options", "DENY");
    message.set("Referrer-Policy", "no-referrer");
    message.set(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src "
        "data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
        "'none'");
  }

  void answer(unsigned status, const std::string& body, const char* type) {
    response_.emplace();
    set_common(*response_, status, type);
    if (status == 401) response_->set(http::field::www_authenticate, "Bearer");
    if (status == 405) response_->set(http::field::allow, "GET, HEAD, POST");
    response_->body() = body;
    response_->prepare_payload();
    if (parser_.is_header_done() && parser_.get().method() == http::verb::head)
      response_->body().clear();
    patience();
    http::async_write(stream_, *response_,
                      [self = shared_from_this()](error_code error, std::size_t) {
                        error ? self->end() : self->hang_up();
                      });
  }

  // Closing with unread bytes would reset the connection and could take the answer with it.
  void hang_up() {
    idle_ = true;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(std::chrono::seconds(1));
    stream_.async_read_some(net::buffer(rest_),
                            [self = shared_from_this()](error_code, std::size_t) { self->end(); });
  }

  void listen() {
    listening_ = true;
    ++shared_.listeners;
    events_.emplace();
    set_common(*events_, 200, "text/event-stream");
    serializer_.emplace(*events_);
    sending_ = true;
    patience();
    http::async_write_header(stream_, *serializer_,
                             [self = shared_from_this()](error_code error, std::size_t) {
                               error ? self->end() : self->sent();
                             });
    watch_for_end();
  }

  // A listener has nothing more to say; when it goes, reading ends.
  void watch_for_end() {
    stream_.socket().async_read_some(net::buffer(rest_),
                                     [self = shared_from_this()](error_code error, std::size_t) {
                                       error ? self->end() : self->watch_for_end();
                                     });
  }

  void send_frame() {
    if (!shared_.frame || version_ == shared_.version) {
      if (shared_.closing) end();
      return;
    }
    version_ = shared_.version;
    frame_ = shared_.frame;
    sending_ = true;
    patience();
    net::async_write(stream_, net::buffer(*frame_),
                     [self = shared_from_this()](error_code error, std::size_t) {
                       error ? self->end() : self->sent();
                     });
  }
  void sent() {
    sending_ = false;
    stream_.expires_never();
    send_frame();
  }

  void end() {
    if (std::exchange(ended_, true)) return;
    if (listening_) --shared_.listeners;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    close();
    on_end_(this);
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  const std::function<void(Connection*)> on_end_;
  beast::flat_buffer buffer_{most_header + most_body};
  RequestParser parser_;
  std::optional<http::response<http::string_body>> response_;
  std::optional<http::response<http::empty_body>> events_;
  std::optional<http::response_serializer<http::empty_body>> serializer_;
  std::array<char, 512> rest_{};
  Text frame_;  // being sent
  std::uint64_t version_ = 0;
  net::ip::address client_;
  unsigned short port_ = 0;
  bool idle_ = true, listening_ = false, sending_ = false, ended_ = false;
};

}  // namespace dasgd::watch
