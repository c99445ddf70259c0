// Where somebody listens, as a person writes it.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace dasgd::tcp {

/// "10.0.0.1:7070", "[::1]:0", "node3:7070".
struct Address {
  std::string host;  ///< without brackets
  std::string port;

  /// Throws InputError.
  static Address parse(std::string_view text);
  /// The host as numbers; "localhost" is 127.0.0.1. Nothing for other names.
  std::optional<boost::asio::ip::address> literal() const;
};

std::string to_string(const boost::asio::ip::tcp::endpoint& endpoint);
/// Nobody else's machine is reached there; IPv4 in IPv6 is looked through.
bool stays_here(const boost::asio::ip::address& address);

}  // namespace dasgd::tcp
