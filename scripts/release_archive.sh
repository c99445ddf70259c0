#!/bin/sh
# Packs the sources of HEAD with the built page (web/dist), so that the archive builds without Node.js.
#   release_archive.sh [BUILD_DIR]    default: build/release
set -eu
cd "$(dirname "$0")/.."
page=${1:-build/release}/src/dasgd/page/index.html
[ -s "$page" ] || { echo "release_archive.sh: $page is not there; run make build with npm first" >&2; exit 1; }
version=$(sed -n 's/^project(dasgd VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=dasgd-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix="$name/" HEAD | tar -x -C "$work"
mkdir -p "$work/$name/web/dist"
cp "$page" "$work/$name/web/dist/index.html"
tar -C "$work" -czf "$name.tar.gz" "$name"
echo "$name.tar.gz"
