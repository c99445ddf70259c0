// What a model is trained on, what it is judged by while it is trained, and what it never sees
// before its end.
#pragma once

#include <array>
#include <string_view>

namespace dasgd {

enum class Part { train, validation, test };
inline constexpr std::array<Part, 3> all_parts{Part::train, Part::validation, Part::test};

inline std::string_view to_string(Part part) {
  constexpr std::array<std::string_view, 3> names{"train", "validation", "test"};
  return names[static_cast<std::size_t>(part)];
}

}  // namespace dasgd
