#include "dasgd/watch/gate.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>
#include <system_error>

namespace dasgd::watch {
namespace {

/// A Host, taken apart; nothing where it has no such form.
struct Host {
  std::string name;  // with the brackets of an IPv6 address
  unsigned port = 80;
};

std::optional<Host> parse_host(std::string_view text) {
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : 0;
  if (bracket == text.npos) return std::nullopt;
  const std::size_t colon = text.find(':', bracket);
  Host host{std::string(text.substr(0, colon))};
  if (colon == text.npos) return host;
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), host.port);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return host;
}

// What a name server could resolve is not an address, however it begins.
bool is_loopback_address(const std::string& name) {
  if (name == "[::1]") return true;
  if (name.find_first_not_of("0123456789.") != name.npos) return false;
  in_addr address{};
  return ::inet_pton(AF_INET, name.c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

// The value of ?token=...; tokens are made of characters that need no escaping.
std::string_view token_of(std::string_view target) {
  const std::size_t query = target.find('?');
  if (query == target.npos) return {};
  for (std::string_view rest = target.substr(query + 1); !rest.empty();) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.starts_with("token=")) return pair.substr(6);
  }
  return {};
}

std::string_view bearer(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  return authorization.starts_with(scheme) ? authorization.substr(scheme.size())
                                           : std::string_view();
}

Decision refuse(unsigned status, std::string why) {
  return {{}, HttpRefusal{status, std::move(why)}};
}

}  // namespace

bool is_this_machine(std::string_view host, unsigned short port) {
  const auto parsed = parse_host(host);
  return parsed && parsed->port == port &&
         (parsed->name == "localhost" || is_loopback_address(parsed->name));
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t k = 0; k < secret.size(); ++k) {
    const char c = given.empty() ? '\0' : given[k % given.size()];
    difference |= static_cast<unsigned char>(c) ^ static_cast<unsigned char>(secret[k]);
  }
  return difference == 0;
}

bool Gate::is_token(std::string_view given) const {
  return !token_.empty() && equal_in_constant_time(given, token_);
}

Decision Gate::decide(const Request& request) const {
  if (request.hosts > 1) return refuse(400, "a request names one host");
  if (loopback_ && !is_this_machine(request.host, request.port))
    return refuse(403, "this is only served as localhost or 127.0.0.1 with the port of the run");
  // All three are looked at, whichever is right.
  const bool by_query = is_token(token_of(request.target));
  const bool by_bearer = is_token(bearer(request.authorization));
  const bool by_header = is_token(request.token_header);
  if (required_ && !(by_query || by_bearer || by_header))
    return refuse(401, "the token is missing or wrong; the address that dasgd printed has it");
  const std::string path = request.target.substr(0, request.target.find('?'));
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const auto readable = [&](Resource resource) {
    return reads ? Decision{resource, {}} : refuse(405, "only GET is answered here");
  };
  if (path == "/") return readable(Resource::page);
  if (path == "/events") return readable(Resource::events);
  if (path == "/metrics") return readable(Resource::metrics);
  if (path != "/stop") return refuse(404, "not found; see /, /events and /metrics");
  if (request.method != "POST") return refuse(405, "only POST is answered here");
  if (!request.origin.empty() && request.origin != "http://" + request.host)
    return refuse(403, "another page may not stop this run");
  if (!by_header) return refuse(403, "stopping needs the token of this run in X-Dasgd-Token");
  return {Resource::stop, {}};
}

}  // namespace dasgd::watch
