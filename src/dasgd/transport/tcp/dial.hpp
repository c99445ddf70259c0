// From an address to a connected socket.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dasgd/transport/tcp/link.hpp"

namespace dasgd::tcp {

/// Kept alive by what it waits for.
class Dial : public std::enable_shared_from_this<Dial> {
 public:
  using Connected = std::function<void(Socket socket, std::chrono::milliseconds time_left)>;
  using Failed = std::function<void(DialFailure kind, const std::string& why)>;

  Dial(net::io_context& context, std::string address, bool only_here);

  /// Calls one of both, once and later, unless it is cancelled.
  void start(std::chrono::milliseconds limit, Connected connected, Failed failed);
  void cancel();

  const std::string& address() const { return address_; }

 private:
  using Endpoints = std::vector<net::ip::tcp::endpoint>;

  void look_up();
  void connect(Endpoints endpoints);
  void fail(boost::system::error_code error);
  void fail(DialFailure kind, const std::string& why);

  const std::string address_;
  const bool only_here_;
  net::ip::tcp::resolver resolver_;
  Socket socket_;
  net::steady_timer timer_;
  Connected connected_;
  Failed failed_;
  bool over_ = false;
};

}  // namespace dasgd::tcp
