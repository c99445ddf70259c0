#pragma once

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

/// Sets `variable` to a real data set beside the repository. Without it the test says so and is
/// skipped; in CI, where the data must be there, it fails.
#define DASGD_SHARED_DATA(variable, name)                                               \
  const std::string variable = std::string(DASGD_SOURCE_DIR) + "/../shared/data/" name; \
  if (!std::filesystem::exists(variable)) {                                             \
    if (std::getenv("CI")) FAIL() << variable << " is not there";                       \
    GTEST_SKIP() << variable << " is not there";                                        \
  }
