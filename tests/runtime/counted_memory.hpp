// What is allocated by the operator new of these tests, which out_of_memory_test.cpp defines.
#pragma once

#include <cstddef>

namespace dasgd::test {

/// The most bytes that were in use at a time since it was called last, beyond those in use then.
std::size_t most_bytes_since_last_call();

}  // namespace dasgd::test
