// From the head of an HTTP request to what the gate looks at.
#pragma once

#include <boost/beast/http.hpp>
#include <cstddef>
#include <string>

#include "dasgd/watch/gate.hpp"

namespace dasgd::watch {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::string_body>;

inline constexpr std::size_t most_header = 8 * 1024, most_body = 1024;

inline void set_limits(RequestParser& parser) {
  parser.header_limit(most_header);
  parser.body_limit(most_body);
}

/// Of a request whose head is complete; it came in on `port`.
inline Request read_request(const RequestParser::value_type& message, unsigned short port) {
  namespace http = boost::beast::http;
  const auto header = [&](auto name) {
    const auto value = message[name];
    return std::string(value.data(), value.size());
  };
  return {std::string(message.method_string()),
          std::string(message.target()),
          header(http::field::host),
          header(http::field::origin),
          header(http::field::authorization),
          header("X-Dasgd-Token"),
          port,
          message.count(http::field::host)};
}

}  // namespace dasgd::watch
