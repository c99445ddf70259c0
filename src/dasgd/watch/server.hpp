// The HTTP server of the live view. One thread, bounded buffers; the run never waits for it.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace dasgd::watch {

struct ServerOptions {
  std::string address = "127.0.0.1";  ///< an IP address
  unsigned short port = 0;            ///< 0: any free one
  std::string token;                  ///< stops the run; required of every request unless loopback
  bool require_token = false;         ///< on a loopback address as well
  std::string page;                   ///< HTML, already with its data
  std::function<void()> on_stop;      ///< called on the thread of the server
  /// Likewise: what went wrong with a client, in a line; the others are served all the same.
  std::function<void(const std::string&)> warn;
  std::size_t most_connections = 64;
  std::size_t most_of_one_client = 32;  ///< connections from one address
  int patience_seconds = 10;  ///< with a client that does not send its request, or does not read
};

/// Serves / (the page), /events (server-sent events), /metrics and POST /stop, and nothing else:
/// no request reaches a file. Every client is sent the latest frame when it has taken the one
/// before; what it misses in between is dropped. A client that takes nothing for `patience_seconds`
/// is dropped itself. Where there are too many connections, of one client or of all, the oldest
/// that has asked for nothing makes room; where all are in use, the new one is answered with 503.
class Server {
 public:
  /// Listens from now on. Throws InputError when the address or port cannot be used.
  explicit Server(ServerOptions options);
  /// Stops at once.
  ~Server();

  unsigned short port() const;
  /// http://ADDRESS:PORT/ with the token where it is required.
  std::string url() const;

  /// How many clients listen to events.
  std::size_t listeners() const;

  /// Puts a frame, unless it is empty, and the metrics in place of the ones before. Never waits.
  /// Any thread.
  void publish(std::string frame, std::string metrics);
  /// Sends the last frame to everybody who takes it within two seconds, then stops.
  void finish(std::string frame, std::string metrics);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace dasgd::watch
