// What somebody without the token can do, and somebody on the wire: real sockets, real handshakes.
#include <arpa/inet.h>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

#include "support/process.hpp"
#include "tcp/node.hpp"
#include "tcp/proxy.hpp"
#include "watch/client.hpp"

namespace dasgd::tcp {
namespace {

using namespace std::chrono_literals;
using test::Client;
using test::Node;
using test::Proxy;
using test::until;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;

unsigned short port_of(const std::string& address) {
  return static_cast<unsigned short>(std::stoul(address.substr(address.rfind(':') + 1)));
}

// Bytes of memory that this process holds.
std::size_t memory() {
  std::size_t pages = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// A node that listens, and one that is linked to it and stays so whatever happens.
class Attacked : public ::testing::Test {
 protected:
  void SetUp() override {
    friend_link = friend_.sockets.dial(address);
    ASSERT_TRUE(until(context, [&] { return node.alive() == 1 && friend_.alive() == 1; }));
  }
  void TearDown() override { expect_that_the_run_goes_on(); }

  void expect_that_the_run_goes_on() {
    auto& frames = friend_.links.at(friend_link).frames;
    const std::size_t before = frames.size();
    friend_.say(friend_link, "echo", std::string(100'000, 'x'));
    EXPECT_TRUE(until(context, [&] { return frames.size() > before; }));
    EXPECT_FALSE(friend_.has_lost(friend_link));
  }
  /// Runs the node while `attack` goes on in another thread.
  template <typename Attack>
  auto during(Attack&& attack) {
    auto result = std::async(std::launch::async, attack);
    EXPECT_TRUE(until(context, [&] { return result.wait_for(0s) == std::future_status::ready; }));
    return result.get();
  }
  /// Until nobody waits at the door any more.
  bool all_refused(std::size_t at_least) {
    return until(context,
                 [&] { return node.sockets.half_open() == 0 && node.refusals.size() >= at_least; });
  }

  const Token token = Token::random();
  boost::asio::io_context context{1};
  Node node{context, Identity::of(token, "node", {})};
  const std::string address = node.sockets.listen("127.0.0.1:0");
  Node friend_{context, Identity::of(token, "friend", {})};
  LinkId friend_link{};
};

TEST_F(Attacked, AWrongTokenIsUntrustedAndBothSidesReportIt) {
  Node stranger(context, Identity::of(Token::random(), "stranger", {}));
  stranger.sockets.dial(address);
  ASSERT_TRUE(until(context, [&] { return stranger.failure && !node.refusals.empty(); }));
  EXPECT_EQ(stranger.failure, DialFailure::untrusted);
  EXPECT_THAT(stranger.failures[0], HasSubstr("it has another token"));
  EXPECT_THAT(
      node.refusals[0],
      HasSubstr(": it does not accept our certificate; perhaps it has another token (tlsv1"));
}

// After a new token: a holder of the old one is a stranger, unless its key is known.
TEST_F(Attacked, AnOldTokenAdmitsOnlyWhoseKeyIsKnown) {
  const Token later = Token::random();
  const Identity old = Identity::of(token, "node", {});
  Node member(context, Identity::of(token, "member", {}));
  Node renewed(context, old.renewed(later));
  const std::string there = renewed.sockets.listen("127.0.0.1:0");
  Node newcomer(context, Identity::of(later, "newcomer", {}));
  newcomer.sockets.dial(there);
  ASSERT_TRUE(until(context, [&] { return newcomer.alive() == 1; }));
  member.sockets.dial(there);
  ASSERT_TRUE(until(context, [&] { return member.failure.has_value(); }));
  EXPECT_EQ(member.failure, DialFailure::untrusted);
  // Both have met before.
  const auto known_as = [&](Node& by, LinkId link) { return by.sockets.peer(link).key.value(); };
  const Identity of_member = Identity::of(token, "member", {});
  Node before(context, old), with(context, of_member);
  const LinkId to_with = before.sockets.dial(with.sockets.listen("127.0.0.1:0"));
  ASSERT_TRUE(until(context, [&] { return before.alive() == 1 && with.alive() == 1; }));
  old.know(known_as(before, to_with));
  of_member.know(known_as(with, with.links.begin()->first));
  const LinkId back = with.sockets.dial(there);
  EXPECT_TRUE(until(context, [&] { return with.alive() == 2; }));
  EXPECT_FALSE(with.has_lost(back));
}

/// A client of OpenSSL without a certificate, that trusts everybody: the answer it gets in the end.
std::string uncertified(unsigned short port, int version) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_max_proto_version(context, version);
  const Client client(port);
  SSL* const ssl = SSL_new(context);
  SSL_set_fd(ssl, client.descriptor());
  char byte = 0;
  std::string said = "nothing";
  if (SSL_connect(ssl) != 1 || SSL_read(ssl, &byte, 1) <= 0) {
    char text[256];
    ERR_error_string_n(ERR_get_error(), text, sizeof text);
    said = text;
  }
  SSL_free(ssl);
  SSL_CTX_free(context);
  return said;
}

TEST_F(Attacked, WithoutACertificateNothingIsHeardBeyondTheHandshake) {
  EXPECT_THAT(during([&] { return uncertified(port_of(address), TLS1_3_VERSION); }),
              HasSubstr("certificate required"));
  EXPECT_THAT(node.refusals, Contains(HasSubstr("it has no certificate")));
}

TEST_F(Attacked, OlderVersionsOfTlsAreRefused) {
  EXPECT_THAT(during([&] { return uncertified(port_of(address), TLS1_2_VERSION); }),
              HasSubstr("protocol version"));
}

TEST_F(Attacked, TheProgramOpensslGetsNoFurther) {
  const std::string connect = "openssl s_client -connect " + address;
  const auto said = during([&] { return test::shell(connect + " </dev/null"); });
  ASSERT_NE(said.status, 127) << "the program openssl is missing";
  EXPECT_THAT(said.out, HasSubstr("TLSv1.3"));
  EXPECT_THAT(said.out, Not(HasSubstr("DSLK")));
  EXPECT_NE(during([&] { return test::shell(connect + " -tls1_2 </dev/null"); }).status, 0);
  EXPECT_TRUE(all_refused(2));
}

TEST_F(Attacked, GarbageIsDroppedAndReportedABoundedNumberOfTimes) {
  std::mt19937 random(7);
  std::string noise(10'000, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  using std::string_literals::operator""s;
  const std::vector<std::string> garbage = {
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      "SSH-2.0-OpenSSH_9.2\r\n",
      noise,
      "\0\0\0\0\0"s,
      "DSLK\1\0\0\0\xff\xff\xff\xff"s + noise,        // a frame whose header has 4 GB
      "\x16\3\1\xff\xff\1\xff\xff\xff\3\3"s + noise,  // a TLS record longer than any
      "\x16\3\1\x40\0\1\xff\xff\xff\3\3"s + noise};   // a ClientHello of 16 MB
  const std::size_t before = memory();
  for (int round = 0; round < 10; ++round)
    during([&] {
      for (const std::string& bytes : garbage) Client(port_of(address)).send(bytes);
      return 0;
    });
  ASSERT_TRUE(all_refused(1));
  EXPECT_THAT(node.refusals, Contains(HasSubstr("it does not speak TLS")));
  EXPECT_LE(node.refusals.size(), 10u);
  EXPECT_LT(memory(), before + (64 << 20));
  EXPECT_EQ(node.links.size(), 1u);
}

TEST_F(Attacked, WhoSaysNothingIsDroppedAfterAWhile) {
  SocketOptions options = test::patient();
  options.handshake_limit = 200ms;
  Node hasty(context, Identity::of(token, "hasty", {}), options);
  const auto port = port_of(hasty.sockets.listen("127.0.0.1:0"));
  std::vector<Client> clients;
  for (int i = 0; i < 7; ++i) clients.emplace_back(port);
  clients[0].send("\x16");  // one byte is not enough
  ASSERT_TRUE(until(context, [&] { return hasty.refusals.size() == clients.size(); }));
  EXPECT_THAT(hasty.refusals, Each(HasSubstr("the handshake took too long")));
  EXPECT_EQ(hasty.sockets.half_open(), 0u);
}

// DASGD_FLOOD=10000 opens as many, where so many files may be open (ulimit -n).
TEST_F(Attacked, HundredsOfConnectionsHoldNobodyUp) {
  const char* const wished = std::getenv("DASGD_FLOOD");
  const int flood = wished ? std::atoi(wished) : 400;
  const std::size_t before = memory();
  std::vector<Client> clients;
  std::size_t most = 0;
  for (int i = 0; i < flood; ++i) {
    clients.emplace_back(port_of(address), 0, "127.0.0.2");
    ASSERT_TRUE(clients.back().connected());
    context.poll();
    most = std::max(most, node.sockets.half_open());
  }
  EXPECT_GT(most, 1u);
  EXPECT_LE(most, 32u);  // half of the places are for other addresses
  EXPECT_LT(memory(), before + (64 << 20));
  expect_that_the_run_goes_on();
  Node late(context, Identity::of(token, "late", {}));
  late.sockets.dial(address);
  ASSERT_TRUE(until(context, [&] { return late.alive() == 1; }));
  EXPECT_LE(node.refusals.size(), 10u);
}

TEST_F(Attacked, FromManyAddressesToo) {
  std::vector<Client> clients;
  std::size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    clients.emplace_back(port_of(address), 0, fmt::format("127.0.1.{}", 1 + i % 200).c_str());
    context.poll();
    most = std::max(most, node.sockets.half_open());
  }
  EXPECT_GT(most, 32u);
  EXPECT_LE(most, 64u);
  Node late(context, Identity::of(token, "late", {}));
  late.sockets.dial(address);
  ASSERT_TRUE(until(context, [&] { return late.alive() == 1; }));
}

std::string address_of(const Client& client) {
  sockaddr_in own{};
  socklen_t size = sizeof own;
  ::getsockname(client.descriptor(), reinterpret_cast<sockaddr*>(&own), &size);
  char host[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &own.sin_addr, host, sizeof host);
  return fmt::format("{}:{}", host, ntohs(own.sin_port));
}

TEST_F(Attacked, OneAddressLosesItsOwnSilentConnectionsFirst) {
  SocketOptions options = test::patient();
  options.half_open = 4;  // two of them from one address
  Node small(context, Identity::of(token, "small", {}), options);
  const auto port = port_of(small.sockets.listen("127.0.0.1:0"));
  std::vector<Client> clients;
  const auto knock = [&](const char* from, std::size_t half_open) {
    clients.emplace_back(port, 0, from);
    EXPECT_TRUE(until(context, [&] { return small.sockets.half_open() == half_open; }));
  };
  knock("127.0.0.2", 1);
  knock("127.0.0.3", 2);
  clients.back().send("\x16");
  knock("127.0.0.3", 3);
  while (context.poll() > 0) {
  }
  EXPECT_TRUE(small.refusals.empty());
  clients.emplace_back(port, 0, "127.0.0.3");
  ASSERT_TRUE(until(context, [&] { return small.refusals.size() == 1; }));
  EXPECT_EQ(small.refusals[0], "refused " + address_of(clients[2]) +
                                   ": too many connections wait for their handshake");
}

TEST_F(Attacked, WhoConnectsTooOftenIsResetAndLeavesNothingBehind) {
  SocketOptions options = test::patient();
  options.connections_per_second = 0;
  Node strict(context, Identity::of(token, "strict", {}), options);
  const Client client(port_of(strict.sockets.listen("127.0.0.1:0")));
  ASSERT_TRUE(until(context, [&] { return strict.refusals.size() == 1; }));
  EXPECT_THAT(strict.refusals[0], HasSubstr("too many connections from there"));
  char byte = 0;
  EXPECT_EQ(::recv(client.descriptor(), &byte, 1, 0), -1);
  EXPECT_EQ(errno, ECONNRESET) << "an orderly end would keep the kernel busy for a minute";
}

TEST_F(Attacked, WithoutDescriptorsTheLinksStayAndOthersComeLater) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ::close(next);
  std::vector<Client> clients;
  const rlimit few{static_cast<rlim_t>(next) + 20, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  for (int i = 0; i < 20; ++i) clients.emplace_back(port_of(address), 0, "127.0.0.2");
  context.poll();
  expect_that_the_run_goes_on();
  clients.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  Node late(context, Identity::of(token, "late", {}));
  late.sockets.dial(address);
  ASSERT_TRUE(until(context, [&] { return late.alive() == 1; }));
}

/// A victim that is linked to the node through somebody in between.
class OnTheWire : public Attacked {
 protected:
  void SetUp() override {
    Attacked::SetUp();
    link = victim.sockets.dial(proxy.address());
    ASSERT_TRUE(until(context, [&] { return node.alive() == 2 && victim.alive() == 1; }));
    at_node = node.links.rbegin()->first;
  }
  bool both_lost() {
    return until(context, [&] { return node.has_lost(at_node) && victim.has_lost(link); });
  }

  Node victim{context, Identity::of(token, "victim", {})};
  Proxy proxy{context, address};
  LinkId link{}, at_node{};
};

TEST_F(OnTheWire, NothingCanBeRead) {
  victim.say(link, "a secret header", "a secret body");
  ASSERT_TRUE(until(context, [&] { return node.links.at(at_node).frames.size() == 1; }));
  EXPECT_THAT(proxy.seen, Not(HasSubstr("secret")));
  EXPECT_THAT(proxy.seen, Not(HasSubstr("victim")));
}

TEST_F(OnTheWire, AReplayedRecordEndsTheLinkAndIsHeardOnce) {
  proxy.tamper = [](std::string& bytes) {
    bytes += bytes;
    return true;
  };
  victim.say(link, "once");
  ASSERT_TRUE(both_lost());
  EXPECT_EQ(node.links.at(at_node).frames.size(), 1u);
  EXPECT_EQ(node.links.at(at_node).loss, Loss::failed);
  EXPECT_THAT(node.links.at(at_node).why, HasSubstr("TLS failed"));
}

TEST_F(OnTheWire, AChangedByteEndsTheLinkAndIsNotHeard) {
  proxy.tamper = [](std::string& bytes) {
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    return true;
  };
  victim.say(link, "changed");
  ASSERT_TRUE(both_lost());
  EXPECT_TRUE(node.links.at(at_node).frames.empty());
}

TEST_F(OnTheWire, ACutFrameIsAResetAndIsNotHeard) {
  proxy.tamper = [](std::string&) { return false; };
  victim.say(link, "cut", std::string(1'000'000, 'x'));
  ASSERT_TRUE(both_lost());
  EXPECT_TRUE(node.links.at(at_node).frames.empty());
  EXPECT_EQ(node.links.at(at_node).loss, Loss::reset);
  EXPECT_EQ(victim.links.at(link).loss, Loss::reset);
}

TEST_F(OnTheWire, ARecordedConnectionPlayedAgainIsNoLink) {
  victim.say(link, "once");
  ASSERT_TRUE(until(context, [&] { return node.links.at(at_node).frames.size() == 1; }));
  during([&] {
    const Client client(port_of(address));
    client.send(proxy.seen);
    return client.receive().size();
  });
  ASSERT_TRUE(all_refused(1));
  EXPECT_EQ(node.links.size(), 2u);
  EXPECT_EQ(node.links.at(at_node).frames.size(), 1u);
}

TEST(PlainText, AGreetingOfFourGigabytesIsRefused) {
  boost::asio::io_context context{1};
  Node node(context, Identity::plaintext());
  const Client client(port_of(node.sockets.listen("127.0.0.1:0")));
  const std::size_t before = memory();
  const auto head = frame_head(Bytes(1), {});
  std::string frame(head.size(), '\0');
  std::memcpy(frame.data(), head.data(), head.size());
  frame.replace(8, 4, "\xff\xff\xff\xff");
  client.send(frame);
  ASSERT_TRUE(until(context, [&] { return !node.refusals.empty(); }));
  EXPECT_THAT(node.refusals[0], HasSubstr("4294967295 bytes"));
  EXPECT_LT(memory(), before + (64 << 20));
}

TEST(Processes, OneThatIsKilledIsAResetAndThenRefused) {
  int addresses[2];
  ASSERT_EQ(::pipe(addresses), 0);
  const Token token = Token::random();
  const pid_t child = ::fork();
  if (child == 0) {  // lives until it is killed
    boost::asio::io_context context{1};
    Node node(context, Identity::of(token, "child", {}));
    std::string address = node.sockets.listen("127.0.0.1:0") + "\n";
    if (::write(addresses[1], address.data(), address.size()) < 0) ::_exit(1);
    until(context, [] { return false; });
    ::_exit(0);
  }
  char text[64] = "";
  ASSERT_GT(::read(addresses[0], text, sizeof text - 1), 0);
  const std::string address(text, std::string_view(text).find('\n'));
  boost::asio::io_context context{1};
  Node node(context, Identity::of(token, "node", {}));
  const LinkId link = node.sockets.dial(address);
  ASSERT_TRUE(until(context, [&] { return node.alive() == 1; }));
  ::kill(child, SIGKILL);
  node.say(link, "into the void", std::string(50'000'000, 'x'));
  ASSERT_TRUE(until(context, [&] { return node.has_lost(link); }));
  EXPECT_EQ(node.links.at(link).loss, Loss::reset);
  ::waitpid(child, nullptr, 0);
  node.sockets.dial(address);
  ASSERT_TRUE(until(context, [&] { return node.failure.has_value(); }));
  EXPECT_EQ(node.failure, DialFailure::refused);
  for (const int end : addresses) ::close(end);
}

}  // namespace
}  // namespace dasgd::tcp
