// Rivals of one's own from a shared object, without building dasgd again.
#pragma once

#include <string>
#include <vector>

#include "dasgd/lab/rivals/kind.hpp"

namespace dasgd {

/// The rivals of a library, see rival_library.hpp; it stays open for good. Their edition is the
/// digest of the file. Throws InputError for a file that is absent, is not a shared object, has no
/// entry, or belongs to another build.
std::vector<RivalKind> open_rival_library(const std::string& path);

/// `known` and those of one's own after them. Throws InputError for a name that is taken or that
/// `--rivals` cannot hold.
std::vector<RivalKind> with_own(std::vector<RivalKind> known, std::vector<RivalKind> own);

}  // namespace dasgd
