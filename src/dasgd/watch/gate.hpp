// Who may ask what: the answer to a request, before any work is done.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dasgd::watch {

/// What matters of a request.
struct Request {
  std::string method, target;  ///< target with its query
  std::string host, origin, authorization, token_header;
  unsigned short port = 0;  ///< at which it came
  std::size_t hosts = 1;    ///< how often it names one
};

enum class Resource { page, events, metrics, stop };

struct HttpRefusal {
  unsigned status;
  std::string why;
};

struct Decision {
  std::optional<Resource> resource;
  std::optional<HttpRefusal> refusal;
};

/// The rules of a server. On a loopback address a browser may be sent here by any page of the
/// world, so the Host must be this machine and this port (DNS rebinding), and what changes
/// something needs the token in a header, which no other page can send. Where a token is required,
/// it is required of everything. An empty token is nobody's.
class Gate {
 public:
  Gate(std::string token, bool token_required, bool loopback)
      : token_(std::move(token)), required_(token_required), loopback_(loopback) {}

  Decision decide(const Request& request) const;

  const std::string& token() const { return token_; }
  bool token_required() const { return required_; }

 private:
  bool is_token(std::string_view given) const;

  const std::string token_;
  const bool required_, loopback_;
};

/// Whether a Host names this machine and no other: `localhost`, an address of 127.0.0.0/8 in four
/// decimal numbers, or [::1], each with that port (80 where it has none).
bool is_this_machine(std::string_view host, unsigned short port);

/// Takes as long for a wrong text as for the right one.
bool equal_in_constant_time(std::string_view given, std::string_view secret);

}  // namespace dasgd::watch
