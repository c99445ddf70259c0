#!/bin/sh
# Builds the packages of HEAD twice, in two directories, and compares their bytes.
#   check_reproducible.sh    needs what `make deb` needs; leaves build/packages and build/packages-again
set -eu
cd "$(dirname "$0")/.."
[ -s build/packages/SHA256SUMS ] || CCACHE_DISABLE=1 scripts/build_packages.sh build/packages
CCACHE_DISABLE=1 scripts/build_packages.sh build/packages-again "$(mktemp -d)"
cmp build/packages/SHA256SUMS build/packages-again/SHA256SUMS && echo "the same bytes"
