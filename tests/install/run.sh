#!/bin/sh
# Builds and runs two outside projects: one against an installed dasgd, one with it as a subdirectory.
set -eu
source=$1 build=$2 cmake=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
"$cmake" -S "$here/find_package" -B "$work/a" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
"$cmake" --build "$work/a" >/dev/null
"$work/a/outside"
test -x "$work/prefix/bin/dasgd"
test -f "$work/prefix/share/man/man1/dasgd-train.1"

# The programs that the documentation shows, by pkg-config.
PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name dasgd.pc)")
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs dasgd)
for page in "$source"/README.md "$source"/docs/*.md "$source"/site/pages/*.md; do
  awk '/^```cpp/ { inside = !not_run; next } /^```/ { inside = 0 } inside; { not_run = /^<!-- not run: / }' "$page" >"$work/shown.cpp"
  [ -s "$work/shown.cpp" ] || continue
  # shellcheck disable=SC2086  # one word per flag
  c++ -O0 "$work/shown.cpp" $flags -o "$work/shown"
  "$work/shown"
done
# A library of rivals, as docs/own_rival.md builds it.
# shellcheck disable=SC2086
c++ -std=c++20 -O0 -shared -fPIC "$source/examples/rival_library.cpp" -o "$work/token.so" $flags
"$work/prefix/bin/dasgd" compare --model quadratic --workers 2 --rivals minibatch,token --rival-library "$work/token.so" \
  --lr 0.01 --seeds 1 --quiet --out "$work/compared"
if [ -f "$build/dasgd_networks.so" ]; then # the installed program finds its networks
  for i in $(seq 40); do echo "$i,$((i % 3)),$((i % 2))"; done >"$work/table.csv"
  "$work/prefix/bin/dasgd" train --model mlp --data "$work/table.csv" --gradients 2 --quiet --out "$work/run"
  test -f "$work/run/model.pt"
fi

# As a subdirectory, without what is optional: all targets are there, and one layer with those below it is built. All of
# them without LibTorch are built by test-mpich and by sanitize.
"$cmake" -S "$here/add_subdirectory" -B "$work/b" -DDASGD_SOURCE="$source" -DDASGD_TORCH=OFF -DDASGD_MPI=OFF \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 >/dev/null
"$cmake" --build "$work/b" -j 2 --target ring >/dev/null
"$work/b/ring"
