#include "dasgd/watch/gate.hpp"

namespace dasgd::watch {
namespace {

std::string_view without_port(std::string_view host) {
  const std::size_t bracket = host.rfind(']'), colon = host.rfind(':');
  const bool has_port =
      colon != host.npos && (bracket == host.npos ? host.find(':') == colon : colon > bracket);
  return has_port ? host.substr(0, colon) : host;
}

bool is_this_machine(std::string_view host) {
  const std::string_view name = without_port(host);
  return name == "localhost" || name == "[::1]" || name.starts_with("127.");
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

Decision refuse(unsigned status, std::string why) { return {{}, Refusal{status, std::move(why)}}; }

}  // namespace

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (std::size_t k = 0; k < secret.size(); ++k) {
    const char c = given.empty() ? '\0' : given[k % given.size()];
    difference |= static_cast<unsigned char>(c) ^ static_cast<unsigned char>(secret[k]);
  }
  return difference == 0;
}

bool Gate::is_token(std::string_view given) const { return equal_in_constant_time(given, token_); }

Decision Gate::decide(const Request& request) const {
  if (loopback_ && !is_this_machine(request.host))
    return refuse(403, "this address is only served under the name of this machine");
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
  if (path != "/stop") return refuse(404, "there is nothing here; see /, /events and /metrics");
  if (request.method != "POST") return refuse(405, "only POST is answered here");
  if (!request.origin.empty() && request.origin != "http://" + request.host)
    return refuse(403, "another page may not stop this run");
  if (!by_header) return refuse(403, "stopping needs the token of this run in X-Dasgd-Token");
  return {Resource::stop, {}};
}

}  // namespace dasgd::watch
