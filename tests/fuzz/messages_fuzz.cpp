#include <span>
#include <stdexcept>

#include "dasgd/elastic/message.hpp"
#include "fuzz/input.hpp"

// What members say to each other: read or refused. What was read can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dasgd::elastic;
  const auto bytes = std::as_bytes(std::span(data, size));
  (void)kind_of(bytes);
  Roster roster, other;
  Introductions in, out, in_again, out_again;
  const auto message = decode(bytes, in, roster);
  if (!message) return 0;
  const auto written = encode(*message, out, roster);
  const auto again = decode(written, in_again, other);
  if (!again || encode(*again, out_again, other) != written)
    throw std::logic_error("a message has changed");
  return 0;
}
