// toml++ for all who read TOML. Its parser asserts that a key begins well one line before it looks
// whether it does, so that a wrong key would end a debug build instead of being reported.
#pragma once

#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>
