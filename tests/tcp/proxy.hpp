// Somebody between two processes who sees and changes what they send.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace dasgd::test {

/// Forwards one connection to `address` on 127.0.0.1.
class Proxy {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  /// Given what the dialing side sent; what it leaves there goes on. False: both sides are cut.
  using Tamper = std::function<bool(std::string& bytes)>;

  Proxy(boost::asio::io_context& context, const std::string& address)
      : context_(context),
        acceptor_(context, {boost::asio::ip::address_v4::loopback(), 0}),
        target_(boost::asio::ip::address_v4::loopback(),
                static_cast<unsigned short>(std::stoul(address.substr(address.find(':') + 1)))) {
    acceptor_.async_accept([this](boost::system::error_code error, Socket socket) {
      if (error) return;
      dialer_ = std::make_shared<Socket>(std::move(socket));
      listener_ = std::make_shared<Socket>(context_);
      listener_->connect(target_);
      forward(dialer_, listener_, true);
      forward(listener_, dialer_, false);
    });
  }
  ~Proxy() { cut(); }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }
  void cut() {
    boost::system::error_code ignored;
    for (const auto& socket : {dialer_, listener_})
      if (socket) socket->close(ignored);
  }

  Tamper tamper = [](std::string&) { return true; };
  std::string seen;  // everything that the dialing side sent

 private:
  void forward(std::shared_ptr<Socket> from, std::shared_ptr<Socket> to, bool watched) {
    const auto buffer = std::make_shared<std::array<char, 1 << 16>>();
    from->async_read_some(boost::asio::buffer(*buffer),
                          [=, this](boost::system::error_code error, std::size_t count) {
                            boost::system::error_code ignored;
                            if (error) return void(to->close(ignored));
                            std::string bytes(buffer->data(), count);
                            if (watched) seen += bytes;
                            if (watched && !tamper(bytes)) return cut();
                            boost::asio::write(*to, boost::asio::buffer(bytes), ignored);
                            forward(from, to, watched);
                          });
  }

  boost::asio::io_context& context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  boost::asio::ip::tcp::endpoint target_;
  std::shared_ptr<Socket> dialer_, listener_;
};

}  // namespace dasgd::test
