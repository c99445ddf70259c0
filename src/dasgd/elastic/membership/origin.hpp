// Who a gradient comes from, for ever: a process start, not a place in a list.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dasgd::elastic {

/// 128 random bits, drawn once per process start. A process that is started again is somebody else:
/// if it went on with old names, one name could mean two updates, and no audit of sets would see
/// it.
struct Origin {
  std::uint64_t high = 0, low = 0;

  friend auto operator<=>(const Origin&, const Origin&) = default;

  static Origin random();
  /// 32 hexadecimal digits.
  std::string text() const;
  static std::optional<Origin> parse(std::string_view text);
};

/// A number that stands for the members and names of one moment; the same at whoever has the same.
using Hash = Origin;

}  // namespace dasgd::elastic
