// A browser's sockets, without a browser.
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace dasgd::test {

class Client {
 public:
  explicit Client(unsigned short port, int receive_buffer = 0, const char* from = nullptr) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (from) {
      sockaddr_in own{};
      own.sin_family = AF_INET;
      ::inet_pton(AF_INET, from, &own.sin_addr);
      ::bind(socket_, reinterpret_cast<const sockaddr*>(&own), sizeof own);
    }
    if (receive_buffer > 0)
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    connected_ =
        ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Client(Client&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}
  ~Client() {
    if (socket_ >= 0) ::close(socket_);
  }

  bool connected() const { return connected_; }
  int descriptor() const { return socket_; }
  void send(const std::string& bytes) const {
    [[maybe_unused]] const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// What comes until the connection ends, `enough` has come, or nothing for a minute.
  std::string receive(const std::string& enough = "") const {
    std::string all;
    char buffer[65536];
    for (;;) {
      pollfd wait{socket_, POLLIN, 0};
      if (::poll(&wait, 1, 60'000) <= 0) return all + "<nothing more came>";
      const auto got = ::recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) return all;
      const std::size_t from = all.size() - std::min(all.size(), enough.size());
      all.append(buffer, static_cast<std::size_t>(got));
      if (!enough.empty() && all.find(enough, from) != all.npos) return all;
    }
  }

 private:
  int socket_ = -1;
  bool connected_ = false;
};

/// What a browser calls the server at that port.
inline std::string local(unsigned short port) { return "localhost:" + std::to_string(port); }

/// A whole request and its answer.
inline std::string ask(unsigned short port, const std::string& head,
                       const std::string& more_headers = "",
                       const std::optional<std::string>& host = {}) {
  const Client client(port);
  client.send(head + " HTTP/1.1\r\nHost: " + host.value_or(local(port)) + "\r\n" + more_headers +
              "\r\n");
  return client.receive();
}

}  // namespace dasgd::test
