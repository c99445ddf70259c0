#!/bin/sh
# Prints the version, which stands in CMakeLists.txt and nowhere else.
set -eu
sed -n 's/^project(dasgd VERSION \([0-9.]*\).*/\1/p' "$(dirname "$0")/../CMakeLists.txt"
