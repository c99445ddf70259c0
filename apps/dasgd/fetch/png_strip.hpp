#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dasgd::app {

/// A picture of `width` x `height` pixels, red, green, blue, pixel after pixel. Throws
/// std::runtime_error naming the file for anything else.
std::vector<std::uint8_t> read_png(const std::string& path, std::uint32_t width,
                                   std::uint32_t height);

}  // namespace dasgd::app
