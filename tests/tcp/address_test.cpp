#include "dasgd/transport/tcp/address.hpp"

#include <gtest/gtest.h>

#include "dasgd/base/input_error.hpp"

namespace dasgd::tcp {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    Address::parse(text);
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

TEST(Addresses, AreHostsAndPorts) {
  const auto parts = [](const std::string& text) {
    const Address address = Address::parse(text);
    return address.host + " " + address.port;
  };
  EXPECT_EQ(parts("10.0.0.1:7070"), "10.0.0.1 7070");
  EXPECT_EQ(parts("[::1]:0"), "::1 0");
  EXPECT_EQ(parts("node3:65535"), "node3 65535");
  EXPECT_EQ(parts(std::string(255, 'x') + ":1"), std::string(255, 'x') + " 1");
}

TEST(Addresses, ThatAreNoneAreRefusedInOneLine) {
  const std::string end = "; write HOST:PORT, like 10.0.0.1:7070";
  EXPECT_EQ(refusal_of("some\nwhere"), "\"some?where\" is not an address: it has no port" + end);
  for (const std::string text : {":1", "[]:1"})
    EXPECT_EQ(refusal_of(text), "\"" + text + "\" is not an address: it has no host" + end);
  EXPECT_EQ(refusal_of(std::string(256, 'x') + ":1"),
            "\"" + std::string(255, 'x') + "\" is not an address: it has no host" + end);
  EXPECT_EQ(refusal_of("::1:7070"),
            "\"::1:7070\" is not an address: an IPv6 address needs brackets" + end);
  for (const std::string text : {"a b:1", "\x7f:1", "\xc3:1"})
    EXPECT_NE(refusal_of(text).find("its host is not a valid name"), std::string::npos) << text;
  for (const std::string text : {"a:", "a:x", "a:1x", "a:65536", "a:-1"})
    EXPECT_NE(refusal_of(text).find("its port is not a number"), std::string::npos) << text;
}

TEST(Addresses, InNumbersAreKnownWithoutANameServer) {
  namespace ip = boost::asio::ip;
  EXPECT_EQ(Address::parse("localhost:1").literal(), ip::make_address("127.0.0.1"));
  EXPECT_EQ(Address::parse("[::1]:1").literal(), ip::make_address("::1"));
  EXPECT_EQ(Address::parse("node3:1").literal(), std::nullopt);
  const auto shown = [](const char* host) {
    return to_string(ip::tcp::endpoint(ip::make_address(host), 7));
  };
  EXPECT_EQ(shown("10.0.0.1"), "10.0.0.1:7");
  EXPECT_EQ(shown("::1"), "[::1]:7");
  EXPECT_EQ(shown("::ffff:10.0.0.1"), "10.0.0.1:7");
  EXPECT_TRUE(stays_here(ip::make_address("127.0.0.1")) && stays_here(ip::make_address("::1")));
  EXPECT_TRUE(stays_here(ip::make_address("::ffff:127.0.0.1")));
  EXPECT_FALSE(stays_here(ip::make_address("10.0.0.1")));
}

}  // namespace
}  // namespace dasgd::tcp
