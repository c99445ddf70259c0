#!/bin/sh
# The include check must fail on arrows that point up, sideways or to a sibling transport.
set -eu
script=$(dirname "$0")/../../scripts/check_includes.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

refuses() {
  rm -rf "$tree/src" && mkdir -p "$tree/src/dasgd/$(dirname "$1")"
  echo "#include \"dasgd/$2\"" >"$tree/src/dasgd/$1"
  if "$script" "$tree" >"$tree/log"; then
    echo "$1 including $2 was accepted"; exit 1
  fi
  grep -q "src/dasgd/$1:1:" "$tree/log" || { echo "the place is not named:"; cat "$tree/log"; exit 1; }
}

refuses core/worker.hpp runtime/train.hpp
refuses core/worker.hpp random/random.hpp
refuses data/idx.cpp problems/softmax.hpp
refuses transport/relay.hpp transport/in_process/node.hpp
refuses transport/mpi/node.hpp transport/in_process/node.hpp
refuses attic/old.hpp core/names.hpp

mkdir -p "$tree/src/dasgd/transport/in_process"
rm -rf "$tree/src/dasgd/attic"
echo '#include "dasgd/transport/relay.hpp"' >"$tree/src/dasgd/transport/in_process/node.hpp"
"$script" "$tree" >/dev/null || { echo "a good tree was refused"; exit 1; }
