// One process of a run, as far as its sockets go.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dasgd/transport/tcp/sockets.hpp"

namespace dasgd::test {

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}
inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Runs what waits until `condition` holds; false if it does not within a minute.
template <typename Condition>
bool until(boost::asio::io_context& context, Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition() && std::chrono::steady_clock::now() < end) {
    context.restart();
    context.run_one_for(std::chrono::milliseconds(100));
  }
  return condition();
}

/// For machines that are busy with other tests: no limit of time that a test may run into.
inline tcp::SocketOptions patient() {
  constexpr std::chrono::minutes long_enough(1);
  return {.dial_limit = long_enough, .handshake_limit = long_enough, .close_limit = long_enough};
}

/// Writes down what happens on its links.
class Node : public tcp::LinkEvents, public FrameSink {
 public:
  struct Frame {
    std::string header, body;
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct Past {
    bool dialed = false;
    std::string remote;
    std::vector<Frame> frames;
    std::vector<std::byte> body;  // the one that is under way
    int drained = 0;
    std::optional<tcp::Loss> loss;
    std::string why;
  };

  Node(boost::asio::io_context& context, tcp::Identity identity,
       tcp::SocketOptions options = patient())
      : sockets(context, std::move(identity), *this, options) {}

  FrameSink& linked(LinkId link, bool dialed, const std::string& remote) override {
    links[link].dialed = dialed;
    links[link].remote = remote;
    return *this;
  }
  void dial_failed(LinkId, tcp::DialFailure kind, const std::string& why) override {
    failure = kind;
    failures.push_back(why);
  }
  std::optional<std::span<std::byte>> body(LinkId link, std::span<const std::byte> header,
                                           std::uint64_t body_bytes, Nanoseconds) override {
    if (body_bytes > most_body || text_of(header) == refuse) return std::nullopt;
    links.at(link).body.resize(body_bytes);
    return links.at(link).body;
  }
  void received(LinkId link, std::span<const std::byte> header, Nanoseconds) override {
    Past& past = links.at(link);
    past.frames.push_back({text_of(header), text_of(past.body)});
    if (text_of(header) == "close") sockets.close(link);
    if (text_of(header) == "echo") sockets.send(link, bytes_of("echoed"));
  }
  void drained(LinkId link) override { ++links.at(link).drained; }
  void lost(LinkId link, tcp::Loss kind, const std::string& why) override {
    if (links.at(link).loss) throw std::logic_error("a link was lost twice");
    links.at(link).loss = kind;
    links.at(link).why = why;
  }
  void refused(const std::string& line) override { refusals.push_back(line); }

  void say(LinkId link, const std::string& header, std::string body = "") {
    const auto kept = std::make_shared<const std::string>(std::move(body));
    sockets.send(link, bytes_of(header), std::as_bytes(std::span(kept->data(), kept->size())),
                 kept);
  }
  bool has_lost(LinkId link) const {
    const auto past = links.find(link);
    return past != links.end() && past->second.loss.has_value();
  }
  /// Links that are not lost.
  std::size_t alive() const {
    std::size_t count = 0;
    for (const auto& [id, past] : links) count += past.loss ? 0 : 1;
    return count;
  }

  std::map<LinkId, Past> links;
  std::optional<tcp::DialFailure> failure;
  std::vector<std::string> failures, refusals;
  std::uint64_t most_body = 1 << 30;
  std::string refuse = "refuse this";
  tcp::Sockets sockets;
};

/// A listening node and one that has dialed it.
struct Pair {
  Pair(tcp::Identity of_a, tcp::Identity of_b, tcp::SocketOptions options = patient())
      : a(context, std::move(of_a), options), b(context, std::move(of_b), options) {
    address = a.sockets.listen("127.0.0.1:0");
    to_a = b.sockets.dial(address);
  }
  /// Whether both sides are linked.
  bool meet() {
    if (!until([&] { return !a.links.empty() && !b.links.empty(); })) return false;
    to_b = a.links.begin()->first;
    return true;
  }
  bool until(auto&& condition) { return test::until(context, condition); }

  boost::asio::io_context context{1};
  Node a, b;
  std::string address;
  LinkId to_a{}, to_b{};
};

}  // namespace dasgd::test
