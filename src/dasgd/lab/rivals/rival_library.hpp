// For a shared object with rivals of one's own, which `dasgd compare --rival-library FILE` opens:
//
//   DASGD_RIVALS(rivals) {
//     rivals.push_back(dasgd::made_by({.name = "token", .summary = "a token goes round"},
//                                     [](const auto& setup) { return make_token(setup); }));
//   }
//
// Objects with virtual functions are passed between dasgd and the library, so both must be built
// with the same headers and by compilers that agree: a library of another build is an error.
#pragma once

#include <vector>

#include "dasgd/lab/rivals/kind.hpp"
#include "dasgd/lab/rivals/rival_headers.hpp"

#define DASGD_TEXT_OF(number) #number
#define DASGD_AS_TEXT(number) DASGD_TEXT_OF(number)
#if defined(__clang__)
#define DASGD_COMPILER "Clang " DASGD_AS_TEXT(__clang_major__)
#else
#define DASGD_COMPILER "GCC " DASGD_AS_TEXT(__GNUC__)
#endif
#if defined(_GLIBCXX_DEBUG)
#define DASGD_CONTAINERS ", _GLIBCXX_DEBUG"
#elif defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
#define DASGD_CONTAINERS ", _GLIBCXX_USE_CXX11_ABI=0"
#else
#define DASGD_CONTAINERS ""
#endif

namespace dasgd {

/// Identifies what both sides must agree on.
inline constexpr const char* rival_library_build =
    DASGD_RIVAL_HEADERS ", " DASGD_COMPILER DASGD_CONTAINERS;

/// The symbols of the library, and their types.
inline constexpr const char* rival_library_build_symbol = "dasgd_rival_library_build";
inline constexpr const char* rivals_symbol = "dasgd_rivals";
using RivalLibraryBuild = const char*();
using AddRivals = void(std::vector<RivalKind>&);

}  // namespace dasgd

/// Begins the function that adds the rivals of a library to a vector of this name.
#define DASGD_RIVALS(kinds)                                                                   \
  extern "C" __attribute__((visibility("default"))) const char* dasgd_rival_library_build() { \
    return dasgd::rival_library_build;                                                        \
  }                                                                                           \
  extern "C" __attribute__((visibility("default"))) void dasgd_rivals(                        \
      std::vector<dasgd::RivalKind>& kinds)
