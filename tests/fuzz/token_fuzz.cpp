#include <stdexcept>

#include "dasgd/transport/tcp/address.hpp"
#include "dasgd/transport/tcp/tls/token.hpp"
#include "fuzz/input.hpp"

// A token, and an address as others send it: read, or refused in one line. What was read can be
// written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd;
  const auto text = fuzz::text_of(data, size);
  fuzz::try_reading([&] {
    const tcp::Token token = tcp::Token::parse(text);
    if (!(tcp::Token::parse(token.text()) == token)) throw std::logic_error("a token has changed");
  });
  fuzz::try_reading([&] { tcp::Address::parse(text).literal(); });
  return 0;
}
