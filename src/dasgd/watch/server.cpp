#include "dasgd/watch/server.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <memory>
#include <thread>
#include <utility>  // Boost 1.74 forgets it
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/watch/access/access.hpp"
#include "dasgd/watch/connection.hpp"

namespace dasgd::watch {
namespace {

constexpr auto last_seconds = std::chrono::seconds(2);

std::string event(const std::string& frame) { return "event: frame\ndata: " + frame + "\n\n"; }

}  // namespace

class Server::Implementation {
 public:
  explicit Implementation(ServerOptions options)
      : shared_(options, is_loopback(options.address)),
        endpoint_(net::ip::make_address(options.address), options.port),
        acceptor_(context_),
        timer_(context_) {
    open();
    accept();
    thread_ = std::jthread([this] { run(); });
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
      if (last) close();  // whatever fails from here on
      if (next) {
        shared_.frame = next;
        ++shared_.version;
      }
      shared_.metrics = metrics;
      for (const auto& connection : std::vector(connections_)) connection->wake();
      stop_when_alone();
    });
  }
  void join() { thread_.join(); }

 private:
  void run() noexcept {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (const std::exception& error) {
        warn(error.what());
      } catch (...) {
        warn("something that is not an exception was thrown");
      }
    }
  }
  void warn(const char* what) noexcept try {
    if (shared_.options.warn) shared_.options.warn(std::string("the page of the run: ") + what);
  } catch (...) {  // not even that
    return;
  }

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
      throw InputError(fmt::format("cannot listen on {} port {}: {}",
                                   endpoint_.address().to_string(), endpoint_.port(),
                                   error.message()));
    acceptor_port_ = acceptor_.local_endpoint().port();
  }

  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == net::error::operation_aborted || shared_.closing) return;
      if (error) {  // out of descriptors, most likely: others will be closed in a while
        timer_.expires_after(std::chrono::milliseconds(200));
        timer_.async_wait([this](error_code stopped) {
          if (!stopped) accept();
        });
        return;
      }
      try {
        welcome(std::move(socket));
      } catch (...) {
        accept();
        throw;
      }
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
    // Such answers are bounded as well; further connections are just closed.
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
    timer_.async_wait([this](error_code stopped) {
      if (!stopped) context_.stop();
    });
  }
  void stop_when_alone() {
    if (shared_.closing && connections_.empty()) context_.stop();
  }

  Shared shared_;
  const tcp::endpoint endpoint_;
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

}  // namespace dasgd::watch
