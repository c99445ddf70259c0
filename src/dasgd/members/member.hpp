// A process as a member of an elastic run: its protocol, its sockets, and the thread that serves
// both.
#pragma once

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "dasgd/elastic/protocol.hpp"
#include "dasgd/transport/endpoint.hpp"
#include "dasgd/transport/tcp/sockets.hpp"
#include "dasgd/transport/tcp/tls/identity.hpp"
#include "dasgd/transport/tcp/tls/token.hpp"

namespace dasgd::members {

/// How a process takes part. Its name is, where it has none, the host's with the process number;
/// without contacts it begins the run. Who it is and where it is dialed it finds itself.
struct MemberOptions : elastic::ProtocolOptions {
  std::string listen;     ///< an address; empty: this member can only dial
  std::string advertise;  ///< where others dial it; empty: there, see `reachable`
  std::shared_ptr<tcp::ListeningPort> port;  ///< that of `listen`, where it is taken already
  std::optional<tcp::Token> token;
  std::filesystem::path certificate, key, authority;  ///< of an own PKI
  bool plaintext = false;                             ///< on this machine only
  bool facts_are_all = false;       ///< nothing is to be added to these facts: they are the run's
  std::filesystem::path directory;  ///< of the run, see `Member::settle`; empty: none yet
  std::function<void(const std::string&)> say;  ///< one line for a person. Any thread.
};

/// Throws InputError for what others would not take as a name.
void require_name(const std::string& name);

/// An identity and the public name of the run.
struct Credentials {
  tcp::Identity identity;
  elastic::RunId run{};
};
Credentials credentials(const MemberOptions& options, const std::string& name,
                        const elastic::Origin& origin);

/// Takes the port to listen on, so that nothing is begun in vain. Throws InputError for an address
/// that cannot be listened on, or a malformed certificate.
void take_port(MemberOptions& options);

/// Joins or begins a run when it is made; everything but the worker's side of the protocol happens
/// on a thread of its own.
class Member final : public Endpoint {
 public:
  /// Throws InputError for an address that cannot be listened on, or a malformed certificate.
  explicit Member(MemberOptions options);
  ~Member() override;

  // Endpoint. Members announce that they have stopped, and count names: the total is known when
  // all have agreed on them.
  void receive(std::size_t limit, Received& received) override;
  std::shared_ptr<Gradient> blank() override { return protocol().blank(); }
  void send(GradientPtr gradient) override;
  void applied(const Received&) override {}
  Nanoseconds now() const override;
  void announce(std::uint32_t) override { protocol().stopped(now()); }
  std::optional<std::uint64_t> announced_total() const override;
  void wait(std::chrono::milliseconds limit) override { protocol().inbox().wait(limit); }
  void wake() override { protocol().inbox().wake(); }
  std::size_t inbox_depth() const override { return protocol().inbox().depth(); }
  std::uint64_t copies_dropped() const override { return protocol().audit().copies_dropped; }
  Traffic sent() const override { return protocol().audit().sent; }
  Nanoseconds waited() const override { return 0; }

  elastic::Protocol& protocol() const;
  /// Waits until it is stopped or there is a model, with which a newcomer is in the run whatever
  /// becomes of the others. Throws InputError with the reason why there will be none. The worker's
  /// thread.
  void wait_for_model(const std::stop_token& stop);
  /// From now on it keeps its files there: token, members, the control socket, its address.
  /// Throws where these cannot be.
  void settle(const std::filesystem::path& directory);
  const std::filesystem::path& directory() const;
  /// Where it listens, as others can dial it; empty: nowhere.
  const std::string& address() const;
  const elastic::Origin& origin() const;
  /// The worker has sent something, or a state has changed.
  void nudge();
  /// Called on the member's thread about ten times a second, until another takes its place; when
  /// this returns, the one before is not called any more.
  void on_tick(std::function<void()> look);
  /// Called, once, where the member's thread had to give up: this member takes no part any more.
  /// Any thread; as above.
  void on_failure(std::function<void(std::exception_ptr)> callback);
  /// Sends the others the digest of this member's model at the end, and waits for theirs: bounded.
  /// The worker's thread, or another when that has ended.
  void compare(const elastic::Hash& digest);
  /// Says goodbye and waits until it is sent: nobody is linked to it any more. Commands are
  /// answered until `close`.
  void part();
  /// Does that and ends.
  void close();
  /// Writes who took part, which `close` does where there is room: last of all, when that set aside
  /// for the end is free. Throws WriteError.
  void leave_names() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace dasgd::members
