#include "dasgd/watch/server.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>  // Boost 1.74 forgets it
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/watch/gate.hpp"

namespace dasgd::watch {
namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using tcp = net::ip::tcp;
using Text = std::shared_ptr<const std::string>;
using boost::system::error_code;
namespace {

constexpr std::size_t most_header = 8 * 1024, most_body = 1024;
constexpr auto last_seconds = std::chrono::seconds(2);

tcp::endpoint endpoint_of(const ServerOptions& options) {
  error_code error;
  const auto address = net::ip::make_address(options.address, error);
  if (error)
    throw InputError(fmt::format("\"{}\" is not an IP address; write it like 127.0.0.1 or 0.0.0.0",
                                 options.address));
  return {address, options.port};
}

std::string event(const std::string& frame) { return "event: frame\ndata: " + frame + "\n\n"; }

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
    parser_.header_limit(most_header);
    parser_.body_limit(most_body);
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
    const auto& message = parser_.get();
    const auto header = [&](auto name) {
      const auto value = message[name];
      return std::string(value.data(), value.size());
    };
    const Request request{std::string(message.method_string()),
                          std::string(message.target()),
                          header(http::field::host),
                          header(http::field::origin),
                          header(http::field::authorization),
                          header("X-Dasgd-Token"),
                          port_};
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
        return answer(202, "the run stops; gradients on their way are still applied\n",
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
  http::request_parser<http::string_body> parser_;
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

}  // namespace

class Server::Implementation {
 public:
  explicit Implementation(ServerOptions options)
      : endpoint_(endpoint_of(options)),
        shared_(options, endpoint_.address().is_loopback()),
        acceptor_(context_),
        timer_(context_) {
    open();
    accept();
    thread_ = std::jthread([this] { context_.run(); });
  }
  ~Implementation() { context_.stop(); }

  unsigned short port() const { return acceptor_port_; }
  std::size_t listeners() const { return shared_.listeners; }
  std::string url() const {
    const auto address = endpoint_.address();
    return fmt::format(
        "http://{}:{}/{}", address.is_v6() ? "[" + address.to_string() + "]" : address.to_string(),
        port(), shared_.gate.token_required() ? "?token=" + shared_.gate.token() : "");
  }

  void publish(std::string frame, std::string metrics, bool last) {
    const Text next = frame.empty() ? nullptr : std::make_shared<const std::string>(event(frame));
    net::post(context_, [this, next, metrics = std::move(metrics), last] {
      if (next) {
        shared_.frame = next;
        ++shared_.version;
      }
      shared_.metrics = metrics;
      if (last) close();
      for (const auto& connection : std::vector(connections_)) connection->wake();
      stop_when_alone();
    });
  }
  void join() { thread_.join(); }

 private:
  void open() {
    error_code error;
    acceptor_.open(endpoint_.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint_, error);
    if (!error) acceptor_.listen(128, error);
    if (error == net::error::address_in_use)
      throw InputError(
          fmt::format("port {} of {} is in use; choose another one, or 0 for any that is free",
                      endpoint_.port(), endpoint_.address().to_string()));
    if (error)
      throw InputError(fmt::format("{} port {} cannot be listened to: {}",
                                   endpoint_.address().to_string(), endpoint_.port(),
                                   error.message()));
    acceptor_port_ = acceptor_.local_endpoint().port();
  }

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == net::error::operation_aborted) return;
      if (error) {  // out of descriptors, most likely: others will be closed in a while
        timer_.expires_after(std::chrono::milliseconds(200));
        timer_.async_wait([this](error_code stopped) {
          if (!stopped) accept();
        });
        return;
      }
      welcome(std::move(socket));
      accept();
    });
  }

  void welcome(tcp::socket socket) {
    const std::size_t most = shared_.options.most_connections;
    const auto connection = std::make_shared<Connection>(
        std::move(socket), shared_, [this](Connection* ended) { forget(ended); });
    const auto of_client = [client = connection->client()](const Connection& other) {
      return other.client() == client;
    };
    const auto anybody = [](const Connection&) { return true; };
    const bool room =
        make_room(shared_.options.most_of_one_client, of_client) && make_room(most, anybody);
    // Those that are told so are bounded as well; the rest finds its connection closed.
    if (!room && connections_.size() >= 2 * most) return;
    connections_.push_back(connection);
    room ? connection->start() : connection->turn_away();
  }
  // Whether there is room for one more among those of a kind: the oldest that is idle makes it.
  template <typename Kind>
  bool make_room(std::size_t most, Kind&& of_kind) {
    const auto count =
        std::ranges::count_if(connections_, [&](const auto& c) { return of_kind(*c); });
    if (static_cast<std::size_t>(count) < most) return true;
    const auto oldest =
        std::ranges::find_if(connections_, [&](const auto& c) { return c->idle() && of_kind(*c); });
    if (oldest == connections_.end()) return false;
    std::shared_ptr(*oldest)->drop();
    return true;
  }
  void forget(Connection* ended) {
    std::erase_if(connections_, [&](const auto& c) { return c.get() == ended; });
    stop_when_alone();
  }

  void close() {
    shared_.closing = true;
    error_code ignored;
    acceptor_.close(ignored);
    timer_.expires_after(last_seconds);
    timer_.async_wait([this](error_code) { context_.stop(); });
  }
  void stop_when_alone() {
    if (shared_.closing && connections_.empty()) context_.stop();
  }

  const tcp::endpoint endpoint_;
  Shared shared_;
  net::io_context context_{1};
  tcp::acceptor acceptor_;
  unsigned short acceptor_port_ = 0;
  net::steady_timer timer_;
  std::vector<std::shared_ptr<Connection>> connections_;  // the oldest first
  std::jthread thread_;
};

Server::Server(ServerOptions options)
    : implementation_(std::make_unique<Implementation>(std::move(options))) {}
Server::~Server() = default;

unsigned short Server::port() const { return implementation_->port(); }
std::string Server::url() const { return implementation_->url(); }
std::size_t Server::listeners() const { return implementation_->listeners(); }
void Server::publish(std::string frame, std::string metrics) {
  implementation_->publish(std::move(frame), std::move(metrics), false);
}
void Server::finish(std::string frame, std::string metrics) {
  implementation_->publish(std::move(frame), std::move(metrics), true);
  implementation_->join();
}

std::string draw_token() {
  std::random_device device;
  std::string token;
  for (int k = 0; k < 4; ++k) token += fmt::format("{:08x}", device());
  return token;
}

void require_token_form(const std::string& token) {
  const bool fits = token.size() >= 16 && std::all_of(token.begin(), token.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '_';
                    });
  if (!fits) throw InputError("a token has 16 or more letters, digits, - or _");
}

bool is_loopback(const std::string& address) {
  return endpoint_of({.address = address}).address().is_loopback();
}

}  // namespace dasgd::watch
