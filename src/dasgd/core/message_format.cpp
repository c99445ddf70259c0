#include "dasgd/core/message_format.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "dasgd/base/input_error.hpp"
#include "dasgd/base/nearest_word.hpp"

namespace dasgd {
namespace {

const std::vector<std::string> names{"full", "int8", "int4", "ternary", "auto"};

}  // namespace

MessageFormat parse_message_format(const std::string& text) {
  const auto at = std::find(names.begin(), names.end(), text);
  if (at == names.end())
    throw InputError("unknown message format \"" + text + "\"" + suggestion(text, names));
  return static_cast<MessageFormat>(at - names.begin());
}

std::string to_string(MessageFormat format) { return names[static_cast<std::size_t>(format)]; }

int bits_of(MessageFormat format, NumberFormat numbers) {
  switch (format) {
    case MessageFormat::int8:
      return 8;
    case MessageFormat::int4:
      return 4;
    case MessageFormat::ternary:
      return 2;
    default:
      return static_cast<int>(8 * number_bytes(numbers));
  }
}

// A sum of k numbers has log2 k bits more; a block says its unit and its width.
std::size_t message_bytes(MessageFormat format, NumberFormat numbers, std::size_t dimension,
                          std::size_t updates) {
  const auto more = static_cast<std::size_t>(std::bit_width(updates - 1));
  const std::size_t bits = static_cast<std::size_t>(bits_of(format, numbers)) + more;
  const bool in_blocks = format != MessageFormat::full || updates > 1;
  const std::size_t blocks = in_blocks ? (dimension + block_size - 1) / block_size : 0;
  return (dimension * bits + 7) / 8 + 2 * blocks;
}

}  // namespace dasgd
