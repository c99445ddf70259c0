#include "dasgd/archive/samples_file.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace dasgd {
namespace {

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = at; k < at + 3; ++k)
      three = three << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0);
    for (std::size_t k = 0; k < 4; ++k)
      text += at + k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string samples_json(std::span<const ShownSample> samples) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ShownSample& sample : samples)
    all.push_back({{"picture", base64(encode_png(sample.picture))},
                   {"label", sample.label},
                   {"answer", sample.answer},
                   {"probability", sample.probability}});
  return all.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace dasgd
