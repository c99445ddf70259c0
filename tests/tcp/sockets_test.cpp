#include "dasgd/transport/tcp/sockets.hpp"

#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

#include "dasgd/base/input_error.hpp"
#include "dasgd/transport/tcp/stream.hpp"
#include "support/message.hpp"
#include "tcp/node.hpp"
#include "watch/client.hpp"

namespace dasgd::tcp {
namespace {

using test::message_of;
using test::Node;
using test::Pair;
using test::until;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Origin origin(int number) {
  Origin made{};
  made[0] = std::byte(number);
  return made;
}

/// The same over TLS and in plain text.
class Linked : public ::testing::TestWithParam<bool> {
 protected:
  Identity identity(int number) const {
    if (!GetParam()) return Identity::plaintext();
    return Identity::of(token, "w" + std::to_string(number), origin(number));
  }
  Pair pair() const { return {identity(1), identity(2)}; }

  const Token token = Token::random();
};
INSTANTIATE_TEST_SUITE_P(Both, Linked, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Tls" : "Plain"; });

TEST_P(Linked, BothSidesHearOfTheLink) {
  Pair p = pair();
  ASSERT_TRUE(p.meet());
  EXPECT_TRUE(p.b.links.at(p.to_a).dialed);
  EXPECT_FALSE(p.a.links.at(p.to_b).dialed);
  EXPECT_EQ(p.b.links.at(p.to_a).remote, p.address);
  EXPECT_THAT(p.a.links.at(p.to_b).remote, StartsWith("127.0.0.1:"));
  EXPECT_EQ(p.a.sockets.half_open(), 0u);
  const PeerName peer = p.a.sockets.peer(p.to_b);
  EXPECT_EQ(peer.name, GetParam() ? "w2" : "");
  EXPECT_EQ(peer.origin, GetParam() ? std::optional(origin(2)) : std::nullopt);
}

TEST_P(Linked, FramesOfAllSizesArriveInOrderBothWays) {
  Pair p = pair();
  ASSERT_TRUE(p.meet());
  std::vector<Node::Frame> frames;
  for (const std::size_t size : {0, 1, 27, 28, 29, 1000, 16384, 16385, 65536, 100'000, 5'000'000}) {
    std::string body(size, '\0');
    for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 7 + size);
    frames.push_back({"header of " + std::to_string(size), body});
    frames.push_back({std::string(size + 1, 'h'), ""});
  }
  for (const auto& frame : frames) {
    p.b.say(p.to_a, frame.header, frame.body);
    p.a.say(p.to_b, frame.header, frame.body);
  }
  EXPECT_GT(p.b.sockets.queued_bytes(p.to_a), 10'000'000u);
  const auto& at_a = p.a.links.at(p.to_b);
  const auto& at_b = p.b.links.at(p.to_a);
  ASSERT_TRUE(p.until([&] {
    return at_a.frames.size() == frames.size() && at_b.frames.size() == frames.size() &&
           at_a.drained > 0 && at_b.drained > 0;
  }));
  EXPECT_TRUE(at_a.frames == frames);
  EXPECT_TRUE(at_b.frames == frames);
  EXPECT_EQ(p.b.sockets.queued_bytes(p.to_a), 0u);
  EXPECT_GT(p.a.sockets.received_bytes(p.to_b), 10'000'000u);
}

// Two sides that have filled each other's buffers get on only if both read.
TEST(Keys, ReadingNeedsNoRoomToWriteWhileTheyAreRenewed) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  const Token token = Token::random();
  constexpr std::uint64_t every_byte = 1;
  const auto one = make_stream(ends[0], Identity::of(token, "a", origin(1)), true, every_byte);
  const auto other = make_stream(ends[1], Identity::of(token, "b", origin(2)), false, every_byte);
  using Step = Advance::Step;
  bool met = false;
  for (int turn = 0; turn < 10 && !met; ++turn) {
    const bool first = one->handshake().step == Step::done;
    met = other->handshake().step == Step::done && first;
  }
  ASSERT_TRUE(met);
  std::vector<std::byte> bytes(10'000);
  for (const auto& stream : {one.get(), other.get()}) {
    const std::array pieces{iovec{bytes.data(), bytes.size()}};
    while (stream->write(pieces).step == Step::done) {
    }
  }
  EXPECT_EQ(one->read(bytes).step, Step::done);
  EXPECT_EQ(other->read(bytes).step, Step::done);
  for (const int end : ends) ::close(end);
}

// The other end is closed before it has read what was sent to it.
TEST_P(Linked, AStreamWhoseConnectionBreaksSaysSoToWhoReadsAndToWhoWrites) {
  using Step = Advance::Step;
  std::vector<std::byte> bytes(1000);
  const std::array pieces{iovec{bytes.data(), bytes.size()}};
  for (const bool reads : {true, false}) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    const auto stream = make_stream(ends[0], identity(1), true, 1 << 20);
    const auto other = make_stream(ends[1], identity(2), false, 1 << 20);
    for (int turn = 0; turn < 10; ++turn) {
      stream->handshake();
      other->handshake();
    }
    ASSERT_EQ(stream->write(pieces).step, Step::done);
    ASSERT_EQ(stream->flush().step, Step::done);
    ::close(ends[1]);
    Advance progress;
    if (reads) {
      progress = stream->read(bytes);
    } else if (progress = stream->write(pieces); progress.step == Step::done) {
      progress = stream->flush();
    }
    EXPECT_EQ(progress.step, Step::failed);
    EXPECT_TRUE(stream->failure().reset);
    EXPECT_EQ(stream->failure().why, "the connection was reset");
    ::close(ends[0]);
  }
}

TEST(Keys, WhoAsksForNewOnesWithoutEndAndReadsNoAnswerIsCutOff) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  const Token token = Token::random();
  const Identity ours = Identity::of(token, "a", origin(1)),
                 theirs = Identity::of(token, "b", origin(2));
  const auto stream = make_stream(ends[0], ours, false, std::uint64_t{1} << 40);
  const std::unique_ptr<SSL, decltype(&SSL_free)> other(SSL_new(theirs.context()), SSL_free);
  SSL_set_fd(other.get(), ends[1]);
  SSL_set_connect_state(other.get());
  using Step = Advance::Step;
  for (int turn = 0; turn < 10; ++turn) {
    SSL_do_handshake(other.get());
    stream->handshake();
  }
  ASSERT_EQ(SSL_is_init_finished(other.get()), 1);
  std::vector<std::byte> bytes(1000);
  Step step = Step::wants_read;
  for (int k = 0; k < 100'000 && step == Step::wants_read; ++k) {
    SSL_key_update(other.get(), SSL_KEY_UPDATE_REQUESTED);
    SSL_do_handshake(other.get());
    step = stream->read(bytes).step;
  }
  EXPECT_EQ(step, Step::failed);
  EXPECT_LT(stream->held_back(), std::size_t{1} << 20);
  for (const int end : ends) ::close(end);
}

TEST(Keys, AreRenewedWhileFramesGoOn) {
  const Token token = Token::random();
  const Identity sender = Identity::of(token, "b", origin(2));
  int renewals = 0;
  SSL_CTX_set_msg_callback_arg(sender.context(), &renewals);
  SSL_CTX_set_msg_callback(sender.context(), [](int sent, int, int kind, const void* bytes,
                                                std::size_t, SSL*, void* counter) {
    if (sent && kind == SSL3_RT_HANDSHAKE && *static_cast<const char*>(bytes) == SSL3_MT_KEY_UPDATE)
      ++*static_cast<int*>(counter);
  });
  SocketOptions options = test::patient();
  options.rekey_bytes = 1 << 20;
  Pair p(Identity::of(token, "a", origin(1)), sender, options);
  ASSERT_TRUE(p.meet());
  for (int i = 0; i < 20; ++i)
    p.b.say(p.to_a, "echo", std::string(1'000'000, static_cast<char>(i)));
  ASSERT_TRUE(p.until([&] { return p.b.links.at(p.to_a).frames.size() == 20; }));
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(p.a.links.at(p.to_b).frames[static_cast<std::size_t>(i)].body,
              std::string(1'000'000, static_cast<char>(i)));
  EXPECT_GE(renewals, 15);
  EXPECT_LE(renewals, 20);
}

TEST_P(Linked, ABodyIsHeldUntilItHasLeft) {
  Pair p = pair();
  ASSERT_TRUE(p.meet());
  const auto kept = std::make_shared<const std::string>(20'000'000, 'x');
  const std::weak_ptr<const std::string> watched = kept;
  p.b.sockets.send(p.to_a, test::bytes_of("h"),
                   std::as_bytes(std::span(kept->data(), kept->size())), kept);
  const_cast<std::shared_ptr<const std::string>&>(kept).reset();
  EXPECT_FALSE(watched.expired());
  ASSERT_TRUE(p.until([&] { return p.a.links.at(p.to_b).frames.size() == 1; }));
  EXPECT_EQ(p.a.links.at(p.to_b).frames[0].body, std::string(20'000'000, 'x'));
  EXPECT_TRUE(watched.expired());
}

TEST_P(Linked, WhatWasSentBeforeACloseArrivesAndThenAGoodbye) {
  Pair p = pair();
  ASSERT_TRUE(p.meet());
  p.b.say(p.to_a, "last words", std::string(8'000'000, 'x'));
  p.b.sockets.close(p.to_a);
  p.b.say(p.to_a, "too late");
  ASSERT_TRUE(p.until([&] { return p.a.has_lost(p.to_b) && p.b.has_lost(p.to_a); }));
  EXPECT_EQ(p.a.links.at(p.to_b).loss, Loss::closed);
  EXPECT_EQ(p.a.links.at(p.to_b).why, "the other side closed the link");
  EXPECT_EQ(p.b.links.at(p.to_a).loss, Loss::closed);
  EXPECT_EQ(p.b.links.at(p.to_a).why, "closed here");
  ASSERT_EQ(p.a.links.at(p.to_b).frames.size(), 1u);
  EXPECT_EQ(p.a.links.at(p.to_b).frames[0].body.size(), 8'000'000u);
  EXPECT_EQ(p.a.sockets.received_bytes(p.to_b), 0u) << "nothing is kept of a link that is gone";
}

TEST_P(Linked, WhoEndsWithoutAWordIsAResetToTheOther) {
  boost::asio::io_context context{1};
  Node node(context, identity(1));
  auto other = std::make_unique<Node>(context, identity(2));
  const LinkId link = other->sockets.dial(node.sockets.listen("127.0.0.1:0"));
  ASSERT_TRUE(until(context, [&] { return node.alive() == 1 && other->alive() == 1; }));
  other->say(link, "never leaves", std::string(8'000'000, 'x'));
  other.reset();
  ASSERT_TRUE(until(context, [&] { return node.alive() == 0; }));
  EXPECT_EQ(node.links.begin()->second.loss, Loss::reset);
  EXPECT_TRUE(node.links.begin()->second.frames.empty());
}

TEST_P(Linked, ALinkMayBeClosedWhileItIsBeingHeard) {
  Pair p = pair();
  ASSERT_TRUE(p.meet());
  for (const char* header : {"first", "close", "unheard"}) p.b.say(p.to_a, header, "body");
  ASSERT_TRUE(p.until([&] { return p.a.has_lost(p.to_b) && p.b.has_lost(p.to_a); }));
  EXPECT_EQ(p.a.links.at(p.to_b).frames.size(), 2u);
  EXPECT_EQ(p.b.links.at(p.to_a).loss, Loss::closed);
}

TEST_P(Linked, WhoNeverReadsHoldsACloseUpForItsLimitOnly) {
  boost::asio::io_context elsewhere{1}, here{1};  // the other one never runs again
  Node sleeper(elsewhere, identity(1));
  SocketOptions options = test::patient();
  options.close_limit = std::chrono::milliseconds(50);
  Node node(here, identity(2), options);
  const LinkId link = node.sockets.dial(sleeper.sockets.listen("127.0.0.1:0"));
  ASSERT_TRUE(until(here, [&] {
    elsewhere.poll();
    return node.alive() == 1;
  }));
  node.say(link, "h", std::string(100'000'000, 'x'));
  node.sockets.close(link);
  ASSERT_TRUE(until(here, [&] { return node.has_lost(link); }));
  EXPECT_EQ(node.links.at(link).loss, Loss::closed);
}

TEST_P(Linked, AFrameThatIsNotWantedEndsItsLinkAndNoOther) {
  Pair p = pair();
  ASSERT_TRUE(p.meet());
  Node c(p.context, identity(3));
  const LinkId other = c.sockets.dial(p.address);
  ASSERT_TRUE(p.until([&] { return c.alive() == 1 && p.a.alive() == 2; }));
  p.b.say(p.to_a, p.a.refuse, "body");
  ASSERT_TRUE(p.until([&] { return p.a.has_lost(p.to_b) && p.b.has_lost(p.to_a); }));
  EXPECT_EQ(p.a.links.at(p.to_b).loss, Loss::refused_frame);
  EXPECT_EQ(p.b.links.at(p.to_a).loss, Loss::reset);
  c.say(other, "echo");
  ASSERT_TRUE(p.until([&] { return c.links.at(other).frames.size() == 1; }));
}

TEST_P(Linked, AHeaderBeyondTheLimitIsRefused) {
  SocketOptions options = test::patient();
  options.limits.header = 100;
  Pair p(identity(1), identity(2), options);
  ASSERT_TRUE(p.meet());
  p.b.say(p.to_a, std::string(100, 'h'));
  p.b.say(p.to_a, std::string(101, 'h'));
  ASSERT_TRUE(p.until([&] { return p.a.has_lost(p.to_b); }));
  EXPECT_EQ(p.a.links.at(p.to_b).frames.size(), 1u);
  EXPECT_THAT(p.a.links.at(p.to_b).why, HasSubstr("101 bytes, and at most 100"));
}

TEST_P(Linked, ManyLinksShareOneThread) {
  boost::asio::io_context context{1};
  Node hub(context, identity(0));
  const std::string address = hub.sockets.listen("127.0.0.1:0");
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<LinkId> links;
  for (int i = 1; i <= 24; ++i) {
    nodes.push_back(std::make_unique<Node>(context, identity(i)));
    links.push_back(nodes.back()->sockets.dial(address));
  }
  ASSERT_TRUE(until(context, [&] {
    return hub.alive() == nodes.size() &&
           std::ranges::all_of(nodes, [](const auto& node) { return node->alive() == 1; });
  }));
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i]->say(links[i], "echo", "abc");
  ASSERT_TRUE(until(context, [&] {
    return std::ranges::all_of(
        nodes, [](const auto& node) { return node->links.begin()->second.frames.size() == 1; });
  }));
}

TEST_P(Linked, ADialMayBeTakenBack) {
  Pair p = pair();
  p.b.sockets.close(p.to_a);
  ASSERT_TRUE(p.until([&] { return p.b.failure.has_value(); }));
  EXPECT_EQ(p.b.failure, DialFailure::other);
  EXPECT_THAT(p.b.failures[0], HasSubstr("closed here"));
  EXPECT_TRUE(p.b.links.empty());
}

TEST_P(Linked, NothingHappensAfterTheSocketsAreGone) {
  boost::asio::io_context context{1};
  Node a(context, identity(1));
  const std::string address = a.sockets.listen("127.0.0.1:0");
  {
    Node b(context, identity(2));
    const LinkId link = b.sockets.dial(address);
    ASSERT_TRUE(until(context, [&] { return b.alive() == 1 && a.alive() == 1; }));
    b.say(link, "h", std::string(1'000'000, 'x'));
    b.sockets.dial("127.0.0.1:1");
  }
  ASSERT_TRUE(until(context, [&] { return a.alive() == 0; }));
  EXPECT_EQ(a.links.begin()->second.loss, Loss::reset);
}

TEST_P(Linked, AddressesInUseOrOfAnotherKindAreRefusedInOneLine) {
  boost::asio::io_context context{1};
  Node a(context, identity(1));
  const std::string address = a.sockets.listen("localhost:0");
  EXPECT_THAT(address, StartsWith("127.0.0.1:"));
  const auto why = [&](const std::string& text) {
    return message_of<InputError>([&] { a.sockets.listen(text); });
  };
  EXPECT_THAT(why(address), HasSubstr("is in use"));
  EXPECT_THAT(why("127.0.0.1"), HasSubstr("no port"));
  EXPECT_THAT(why("127.0.0.1:70000"), HasSubstr("0 to 65535"));
  EXPECT_THAT(why("::1:80"), HasSubstr("brackets"));
  EXPECT_THAT(why(":80"), HasSubstr("no host"));
  EXPECT_THAT(why("example.invalid:80"), HasSubstr("not an IP address"));
  if (!GetParam()) {
    EXPECT_THAT(why("0.0.0.0:0"), HasSubstr("without TLS"));
  }
}

// As after a crash: the other side of an old connection has not noticed yet.
TEST_P(Linked, APortCanBeTakenAgainWhileConnectionsOfBeforeEnd) {
  boost::asio::io_context context{1};
  std::optional<test::Client> silent;
  std::string address;
  {
    Node before(context, identity(1));
    address = before.sockets.listen("127.0.0.1:0");
    silent.emplace(static_cast<unsigned short>(std::stoul(address.substr(address.rfind(':') + 1))));
    ASSERT_TRUE(until(context, [&] { return before.sockets.half_open() == 1; }));
  }
  Node after(context, identity(2));
  EXPECT_EQ(after.sockets.listen(address), address);
}

TEST_P(Linked, DialsThatFailSayHow) {
  boost::asio::io_context context{1};
  Node node(context, identity(1));
  const auto dial = [&](const std::string& address) {
    node.failure.reset();
    node.sockets.dial(address);
    EXPECT_TRUE(until(context, [&] { return node.failure.has_value(); }));
    EXPECT_THAT(node.failures.back(), StartsWith(address + ": "));
    return *node.failure;
  };
  std::string address;
  {
    Node gone(context, identity(2));
    address = gone.sockets.listen("127.0.0.1:0");
  }
  context.poll();
  EXPECT_EQ(dial(address), DialFailure::refused);
  EXPECT_EQ(dial("nonsense"), DialFailure::other);
  EXPECT_EQ(dial("[fe80::1]:7070"), DialFailure::other) << "an address without its interface";
  if (!GetParam()) {
    EXPECT_EQ(dial("10.0.0.1:7070"), DialFailure::other);
  }
}

/// Whether ::1 exists, as the kernel says.
bool there_is_an_ipv6_loopback() {
  const int socket = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 loopback{};
  loopback.sin6_family = AF_INET6;
  loopback.sin6_addr = in6addr_loopback;
  const bool found = ::bind(socket, reinterpret_cast<sockaddr*>(&loopback), sizeof loopback) == 0;
  ::close(socket);
  return found;
}

TEST_P(Linked, IPv6WorksToo) {
  if (!there_is_an_ipv6_loopback())
    GTEST_SKIP() << "needs an IPv6 loopback address: the kernel has none (net.ipv6.conf.lo)";
  boost::asio::io_context context{1};
  Node a(context, identity(1)), b(context, identity(2));
  b.sockets.dial(a.sockets.listen("[::1]:0"));
  ASSERT_TRUE(until(context, [&] { return b.alive() == 1; }));
  EXPECT_THAT(b.links.begin()->second.remote, StartsWith("[::1]:"));
}

}  // namespace
}  // namespace dasgd::tcp
