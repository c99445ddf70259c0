#include "dasgd/members/files.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fstream>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>

#include "dasgd/base/files/atomic_file.hpp"
#include "dasgd/base/parse_json.hpp"
#include "dasgd/transport/tcp/address.hpp"

namespace dasgd::members {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string dump(const OrderedJson& json, int indent = -1) {
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace

void write_members(const std::filesystem::path& directory, const elastic::Protocol& protocol,
                   Nanoseconds) {
  OrderedJson members = OrderedJson::array();
  for (const auto& [origin, name] : protocol.numbering())
    members.push_back({{"worker", members.size()}, {"origin", origin.text()}, {"name", name}});
  write_file((directory / "members.json").string(), dump(members, 2) + "\n");
  std::string addresses;
  for (const std::string& address : protocol.addresses()) addresses += address + "\n";
  write_file((directory / "addresses").string(), addresses);
}

std::vector<std::string> known_addresses(const std::filesystem::path& directory) {
  std::vector<std::string> found;
  std::ifstream file(directory / "addresses");
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) found.push_back(line);
  return found;
}

std::string former_name(const std::filesystem::path& directory) {
  std::ifstream file(directory / "members.json");
  const auto members = parse_json<OrderedJson>(file);
  if (!members.is_array() || members.empty() || !members.front().is_object()) return "";
  const auto name = members.front().find("name");
  return name != members.front().end() && name->is_string() ? name->get<std::string>() : "";
}

std::string status_json(const elastic::Protocol& protocol, Nanoseconds now) {
  const auto audit = protocol.audit();
  OrderedJson members = OrderedJson::array();
  for (const elastic::MemberView& m : protocol.members(now))
    members.push_back(
        {{"name", m.name},
         {"origin", m.origin.text()},
         {"state", m.state},
         {"gradients", m.gradients},
         {"rate", m.rate},
         {"behind", m.behind},
         {"seconds_behind", m.seconds_behind},
         {"link_bytes_per_second", m.link_bytes_per_second},
         {"messages", m.messages},
         {"gradients_per_message",
          m.messages > 0 ? static_cast<double>(m.gradients_sent) / static_cast<double>(m.messages)
                         : 0},
         {"relation", m.relation},
         {"since_seconds", m.since_seconds}});
  std::string run;
  for (const std::byte b : protocol.run()) run += fmt::format("{:02x}", static_cast<unsigned>(b));
  const std::string names = "xxh3-128:" + audit.names.text();
  const elastic::Kept kept = protocol.kept();
  return dump(
      {{"run", run},
       {"me", protocol.options().name},
       {"origin", protocol.options().origin.text()},
       {"members", std::move(members)},
       {"t", protocol.held().size()},
       {"digest", names},
       {"set_hash", names},
       {"kept_bytes", {{"log", kept.log}, {"copies", kept.copies}, {"models", kept.models}}},
       {"ending", protocol.ending().has_value()},
       {"over", protocol.is_closed()}});
}

std::string reachable(const std::string& listened, const std::string& advertised) {
  const std::size_t colon = listened.rfind(':');
  const std::string host = listened.substr(0, colon), port = listened.substr(colon);
  if (advertised.ends_with(":0")) return advertised.substr(0, advertised.rfind(':')) + port;
  if (!advertised.empty()) return advertised;
  if (host != "0.0.0.0" && host != "[::]") return listened;
  std::string found = "127.0.0.1";
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found + port;
  for (const ifaddrs* at = all; at; at = at->ifa_next) {
    if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    inet_ntop(AF_INET, &address->sin_addr, text, sizeof(text));
    if (std::string(text).starts_with("127.")) continue;
    found = text;
    break;
  }
  freeifaddrs(all);
  return found + port;
}

void require_address(const std::string& address) {
  static_cast<void>(tcp::Address::parse(address));
}

std::string usual_listen(const std::string& contact) {
  const std::string host = contact.substr(0, contact.rfind(':'));
  if (host == "[::1]") return "[::1]:0";
  return host == "localhost" || host.starts_with("127.") ? "127.0.0.1:0" : "0.0.0.0:0";
}

}  // namespace dasgd::members
