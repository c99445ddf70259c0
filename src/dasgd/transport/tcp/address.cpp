#include "dasgd/transport/tcp/address.hpp"

#include <charconv>
#include <fmt/format.h>

#include "dasgd/base/input_error.hpp"

namespace dasgd::tcp {
namespace {

namespace ip = boost::asio::ip;

constexpr std::size_t most_host = 255;  // of DNS

// It may come from others: one line, whatever it is.
std::string shown(std::string_view text) {
  std::string line(text.substr(0, most_host));
  for (char& c : line)
    if (c < ' ' || c > '~') c = '?';
  return line;
}

ip::address plain(const ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
  return address;
}

}  // namespace

Address Address::parse(std::string_view text) {
  const auto bad = [&](const char* why) {
    return InputError(fmt::format(
        "\"{}\" is not an address: {}; write HOST:PORT, like 10.0.0.1:7070", shown(text), why));
  };
  const auto colon = text.rfind(':');
  if (colon == text.npos) throw bad("it has no port");
  std::string_view host = text.substr(0, colon), port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != host.npos) {
    throw bad("an IPv6 address needs brackets");
  }
  if (host.empty() || host.size() > most_host) throw bad("it has no host");
  for (const char c : host)
    if (c <= ' ' || c > '~') throw bad("its host is not a valid name");
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc() || end != port.data() + port.size())
    throw bad("its port is not a number from 0 to 65535");
  return {std::string(host), std::to_string(number)};
}

std::optional<ip::address> Address::literal() const {
  if (host == "localhost") return ip::address_v4::loopback();
  boost::system::error_code error;
  const ip::address address = ip::make_address(host, error);
  return error ? std::nullopt : std::optional(address);
}

std::string to_string(const ip::tcp::endpoint& endpoint) {
  const ip::address address = plain(endpoint.address());
  const std::string host = address.to_string();
  return fmt::format("{}:{}", address.is_v6() ? "[" + host + "]" : host, endpoint.port());
}

bool stays_here(const ip::address& address) { return plain(address).is_loopback(); }

}  // namespace dasgd::tcp
