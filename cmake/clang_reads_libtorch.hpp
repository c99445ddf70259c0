// For clang-tidy, included before everything else: clang 14 cannot read LibTorch 1.13 as C++20
// where std::vector is constexpr, because a class of LibTorch has a vector of a type that is not
// complete yet. This vector is none. One function of vector<bool> was declared constexpr before it
// and is called by another name.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR
#define __fill_a1 fill_a1_of_bits
#include <vector>
#undef __fill_a1
#undef _GLIBCXX20_CONSTEXPR
#define _GLIBCXX20_CONSTEXPR constexpr
