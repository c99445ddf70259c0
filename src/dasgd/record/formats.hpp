// Versions of what a run leaves behind, beside that of checkpoints; docs/formats.md says what is
// promised about them.
#pragma once

namespace dasgd {

/// Names of files and meanings of keys. Counts up when a meaning changes, not when something is
/// added.
inline constexpr int run_directory_format = 1;
inline constexpr int trace_format = 1;

}  // namespace dasgd
