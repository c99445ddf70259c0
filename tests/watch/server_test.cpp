#include "dasgd/watch/server.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <vector>

#include "dasgd/core/error.hpp"
#include "dasgd/watch/access/access.hpp"
#include "dasgd/watch/gate.hpp"
#include "support/message.hpp"
#include "support/process.hpp"
#include "watch/client.hpp"

namespace dasgd::watch {
namespace {

using test::ask;
using test::Client;
using test::eventually;
using test::message_of;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string secret = "0123456789abcdef";

class Watching : public ::testing::Test {
 protected:
  ServerOptions options() {
    return {.token = secret, .page = "<html>the page</html>", .on_stop = [this] { ++stops; }};
  }
  static std::string listen(const Server& server) {
    return "GET /events HTTP/1.1\r\nHost: " + test::local(server.port()) + "\r\n\r\n";
  }
  std::atomic<int> stops{0};
};

TEST_F(Watching, ServesThePageAndTheMetricsAndNothingElse) {
  Server server(options());
  server.publish("{}", "dasgd_loss 1\n");
  EXPECT_THAT(ask(server.port(), "GET /"), HasSubstr("<html>the page</html>"));
  EXPECT_THAT(ask(server.port(), "GET /metrics"), HasSubstr("dasgd_loss 1"));
  EXPECT_THAT(ask(server.port(), "GET /"), HasSubstr("frame-ancestors 'none'"));
  for (const char* target :
       {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/index.html",
        "/events/..", "http://localhost/etc/passwd", "/config.toml", "/.."})
    EXPECT_THAT(ask(server.port(), std::string("GET ") + target), StartsWith("HTTP/1.1 404"))
        << target;
  EXPECT_THAT(ask(server.port(), "PUT /"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask(server.port(), "DELETE /metrics"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask(server.port(), "HEAD /"), Not(HasSubstr("the page")));
}

TEST_F(Watching, ARequestThatFailsEndsNeitherTheServerNorTheProcess) {
  ServerOptions failing = options();
  std::atomic<int> warnings{0};
  failing.on_stop = [] { throw std::bad_alloc(); };
  failing.warn = [&](const std::string&) { ++warnings; };
  Server server(failing);
  Client client(server.port());
  client.send("POST /stop HTTP/1.1\r\nHost: " + test::local(server.port()) +
              "\r\nX-Dasgd-Token: " + secret + "\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return warnings == 1; }));
  EXPECT_THAT(ask(server.port(), "GET /"), HasSubstr("<html>the page</html>"));
}

TEST_F(Watching, TwoHostsAreRefused) {
  Server server(options());
  EXPECT_THAT(ask(server.port(), "GET /", "Host: " + test::local(server.port()) + "\r\n"),
              StartsWith("HTTP/1.1 400"));
}

TEST(GateTest, WithoutATokenNobodyHasIt) {
  const Gate gate("", true, false);
  EXPECT_EQ(gate.decide({.method = "GET", .target = "/"}).refusal->status, 401u);
  EXPECT_EQ(gate.decide({.method = "GET", .target = "/?token="}).refusal->status, 401u);
}

TEST_F(Watching, StopsOnlyForWhoHasTheTokenInAHeader) {
  Server server(options());
  const auto stop = [&](const std::string& head, const std::string& headers,
                        const std::optional<std::string>& host = {}) {
    return ask(server.port(), head, headers, host);
  };
  EXPECT_THAT(stop("POST /stop", ""), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(stop("POST /stop?token=" + secret, ""), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(stop("POST /stop", "X-Dasgd-Token: 0123456789abcdeX\r\n"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(stop("GET /stop", "X-Dasgd-Token: " + secret + "\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(
      stop("POST /stop", "X-Dasgd-Token: " + secret + "\r\nOrigin: http://evil.example\r\n"),
      StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(stop("POST /stop", "X-Dasgd-Token: " + secret + "\r\n", "evil.example"),
              StartsWith("HTTP/1.1 403"));
  EXPECT_EQ(stops, 0);
  EXPECT_THAT(stop("POST /stop", "X-Dasgd-Token: " + secret + "\r\nOrigin: http://" +
                                     test::local(server.port()) + "\r\n"),
              StartsWith("HTTP/1.1 202"));
  EXPECT_EQ(stops, 1);
}

TEST_F(Watching, AnotherNameForThisMachineIsRefused) {
  Server server(options());
  const std::string port = ":" + std::to_string(server.port());
  for (const std::string& host :
       std::vector<std::string>{"evil.example", "localhost.evil.example", "192.168.0.7",
                                "127.evil.example", "127.0.0.1.nip.io", "127.0.0.1.", "127.1",
                                "0127.0.0.1", "[::2]", "[::1", "127.0.0.1" + port + "@evil.example",
                                std::string("localhost\t.evil.example"), std::string()})
    EXPECT_THAT(ask(server.port(), "GET /", "", host + port), StartsWith("HTTP/1.1 403")) << host;
  for (const std::string host : {"localhost", "127.0.0.1", "127.255.0.9", "[::1]"})
    EXPECT_THAT(ask(server.port(), "GET /", "", host + port), StartsWith("HTTP/1.1 200")) << host;
  for (const char* host : {"", "localhost", "localhost:", "localhost:1", "[::1]1", "127.0.0.1:1"})
    EXPECT_THAT(ask(server.port(), "GET /", "", host), StartsWith("HTTP/1.1 403")) << host;
}

TEST_F(Watching, AHostWithoutAPortMeansEighty) {
  EXPECT_TRUE(is_this_machine("localhost", 80));
  EXPECT_FALSE(is_this_machine("localhost", 9797));
  EXPECT_FALSE(is_this_machine(std::string_view("127.0.0.1\0.evil.example", 22), 80));
  EXPECT_FALSE(is_this_machine("127.0.0.1:4294977093", 9797));  // 2^32 + 9797
}

TEST_F(Watching, WhereATokenIsRequiredEverythingNeedsIt) {
  ServerOptions open = options();
  open.address = "0.0.0.0";
  Server server(open);
  EXPECT_THAT(server.url(), HasSubstr("?token=" + secret));
  for (const char* target : {"/", "/events", "/metrics", "/nothing", "/?token=wrong", "/?token="})
    EXPECT_THAT(ask(server.port(), std::string("GET ") + target), StartsWith("HTTP/1.1 401"))
        << target;
  EXPECT_THAT(ask(server.port(), "GET /?a=b&token=" + secret), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(ask(server.port(), "GET /metrics", "Authorization: Bearer " + secret + "\r\n"),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(Watching, TokensAreComparedWhole) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  for (const char* wrong : {"", "a", "ab", "abd", "abcabc", "abcd"})
    EXPECT_FALSE(equal_in_constant_time(wrong, "abc")) << wrong;
  EXPECT_NE(draw_token(), draw_token());
  EXPECT_NO_THROW(require_token_form(draw_token()));
  EXPECT_THROW(require_token_form("short"), InputError);
  EXPECT_THROW(require_token_form("0123456789abcde&"), InputError);
}

TEST_F(Watching, ListenersGetTheLatestFrame) {
  Server server(options());
  server.publish("first", "");
  const Client client(server.port());
  client.send(listen(server));
  EXPECT_THAT(client.receive("data: first\n\n"), HasSubstr("text/event-stream"));
  EXPECT_EQ(server.listeners(), 1u);
  server.publish("second", "");
  EXPECT_THAT(client.receive("\n\n"), HasSubstr("data: second"));
  server.finish("last", "");
  EXPECT_THAT(client.receive(), HasSubstr("data: last"));
  EXPECT_FALSE(Client(server.port()).connected());
}

TEST_F(Watching, AClientThatNeverReadsIsDroppedAndHoldsNobodyUp) {
  ServerOptions impatient = options();
  impatient.patience_seconds = 3;
  Server server(impatient);
  const Client lazy(server.port(), 4096), eager(server.port());
  for (const Client* client : {&lazy, &eager}) client->send(listen(server));
  ASSERT_TRUE(eventually([&] { return server.listeners() == 2; }));
  const std::string big(8 << 20, 'x');  // more than the system's buffers take
  server.publish(big, "");
  EXPECT_THAT(eager.receive("xx\n\n"), HasSubstr("xxx"));
  server.publish("small", "");
  EXPECT_THAT(eager.receive("small"), HasSubstr("small"));
  EXPECT_TRUE(eventually([&] { return server.listeners() == 1; }));
}

TEST_F(Watching, WhoSaysNothingLocksNobodyOut) {
  ServerOptions patient = options();
  patient.patience_seconds = 3600;  // it is not time that makes room
  Server server(patient);
  const Client listener(server.port());
  listener.send(listen(server));
  ASSERT_TRUE(eventually([&] { return server.listeners() == 1; }));
  std::vector<Client> silent;
  int connected = 0;
  for (int k = 0; k < 1000; ++k) {
    silent.emplace_back(server.port());
    connected += silent.back().connected() ? 1 : 0;
  }
  EXPECT_EQ(connected, 1000);
  EXPECT_EQ(silent.front().receive(), "") << "the oldest has made room";
  EXPECT_THAT(ask(server.port(), "GET /metrics"), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(server.listeners(), 1u) << "whoever is served stays";
}

TEST_F(Watching, OneClientCannotTakeAllConnections) {
  ServerOptions small = options();
  small.most_of_one_client = 2;
  Server server(small);
  const Client a(server.port()), b(server.port());
  for (const Client* client : {&a, &b}) client->send(listen(server));
  ASSERT_TRUE(eventually([&] { return server.listeners() == 2; }));
  EXPECT_THAT(ask(server.port(), "GET /"), StartsWith("HTTP/1.1 503"));
  const Client other(server.port(), 0, "127.0.0.2");  // comes from another address
  other.send("GET / HTTP/1.1\r\nHost: " + test::local(server.port()) + "\r\n\r\n");
  EXPECT_THAT(other.receive(), StartsWith("HTTP/1.1 200"));
}

TEST_F(Watching, OneTooManyGetsAReason) {
  ServerOptions small = options();
  small.most_connections = 2;
  Server server(small);
  const Client a(server.port()), b(server.port());
  for (const Client* client : {&a, &b}) client->send(listen(server));
  ASSERT_TRUE(eventually([&] { return server.listeners() == 2; }));
  EXPECT_THAT(ask(server.port(), "GET /"), StartsWith("HTTP/1.1 503"));
}

TEST_F(Watching, NonsenseAndGiantsAreAnswered) {
  Server server(options());
  const auto say = [&](const std::string& bytes) {
    const Client client(server.port());
    client.send(bytes);
    return client.receive();
  };
  EXPECT_THAT(say("nonsense\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(say("GET / HTTP/1.1\r\nHost: " + test::local(server.port()) +
                  "\r\nX: " + std::string(20'000, 'a')),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(say("POST /stop HTTP/1.1\r\nHost: " + test::local(server.port()) +
                  "\r\nContent-Length: 99999999\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask(server.port(), "GET /"), StartsWith("HTTP/1.1 200"));
}

TEST_F(Watching, APortInUseIsRefusedWithAWayOut) {
  Server server(options());
  ServerOptions same = options();
  same.port = server.port();
  EXPECT_THAT(message_of<InputError>([&] { Server other(same); }),
              HasSubstr("is in use; choose another one, or 0"));
  same.address = "localhost";
  EXPECT_THAT(message_of<InputError>([&] { Server other(same); }),
              HasSubstr("is not an IP address"));
}

}  // namespace
}  // namespace dasgd::watch
