#!/usr/bin/env bash
# The build of dasgd_networks.so is identified by all headers that it shares with the program, as the compiler sees them.
#   network_headers_test.sh ROOT CMAKE COMPILER
set -euo pipefail
root=$(cd "$1" && pwd)
script=$(mktemp)
trap 'rm -f "$script"' EXIT
cat >"$script" <<END
cmake_minimum_required(VERSION 3.18)
include($root/cmake/header_closure.cmake)
dasgd_header_closure(headers $root/src/dasgd/models/network_module.cpp)
foreach(header \${headers})
  message("\${header}")
endforeach()
END
derived=$("$2" -P "$script" 2>&1)
seen=$("$3" -std=c++20 -DDASGD_NETWORK_MODULE_BUILD='""' -I "$root/src" -MM "$root/src/dasgd/models/network_module.cpp" |
  tr ' ' '\n' | grep '\.hpp$' | sort)
grep -q data/images/picture.hpp <<<"$seen"
diff <(echo "$seen") <(echo "$derived") || { echo "header_closure.cmake does not find what the compiler reads"; exit 1; }
