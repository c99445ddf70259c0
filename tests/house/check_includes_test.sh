#!/bin/sh
# The include check must fail on arrows that point up, sideways or to a sibling transport.
set -eu
script=$(dirname "$0")/../../scripts/check_includes.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

refuses() { refuses_at "src/dasgd/$1" "dasgd/$2"; }
refuses_at() {
  rm -rf "$tree/src" "$tree/apps" && mkdir -p "$tree/src" "$tree/apps" "$tree/$(dirname "$1")"
  echo "#include \"$2\"" >"$tree/$1"
  if "$script" "$tree" >"$tree/log"; then
    echo "$1 including $2 was accepted"; exit 1
  fi
  grep -q "$1:1:" "$tree/log" || { echo "the place is not named:"; cat "$tree/log"; exit 1; }
}

refuses core/worker.hpp runtime/train.hpp
refuses core/worker.hpp random/random.hpp
refuses data/idx.cpp problems/softmax.hpp
refuses transport/relay.hpp transport/in_process/node.hpp
refuses transport/mpi/node.hpp transport/in_process/node.hpp
refuses attic/old.hpp core/names.hpp
refuses config/config.hpp settings/settings.hpp
refuses_at src/dasgd/settings/settings.hpp cli/command_line.hpp
refuses_at apps/dasgd/commands/train_command.cpp cli/command_line.hpp
refuses_at apps/dasgd/commands/train_command.cpp reproduce/reproduce.hpp

rm -rf "$tree/src" "$tree/apps"
mkdir -p "$tree/src/dasgd/transport/in_process" "$tree/apps/dasgd/cli"
echo '#include "commands/commands.hpp"' >"$tree/apps/dasgd/cli/command_line.hpp"
echo '#include "dasgd/transport/relay.hpp"' >"$tree/src/dasgd/transport/in_process/node.hpp"
"$script" "$tree" >/dev/null || { echo "a good tree was refused"; exit 1; }
