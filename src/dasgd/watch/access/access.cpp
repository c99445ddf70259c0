#include "dasgd/watch/access/access.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <random>
#include <utility>  // Boost 1.74 forgets it

#include "dasgd/core/error.hpp"

namespace dasgd::watch {

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
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(address, error);
  if (error)
    throw InputError(
        fmt::format("\"{}\" is not an IP address; write it like 127.0.0.1 or 0.0.0.0", address));
  return parsed.is_loopback();
}

}  // namespace dasgd::watch
