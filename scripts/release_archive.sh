#!/bin/sh
# Packs the sources of HEAD with the built page (web/dist), so that the archive builds without Node.js. The same commit
# gives the same bytes.
#   release_archive.sh [BUILD_DIR [OUT_DIR]]    default: build/release, and here
set -eu
cd "$(dirname "$0")/.."
page=${1:-build/release}/src/dasgd/page/index.html
out=${2:-.}
[ -s "$page" ] || { echo "release_archive.sh: $page is not there; run make archive with npm first" >&2; exit 1; }
name=dasgd-$(scripts/version.sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix="$name/" HEAD | tar -x -C "$work"
mkdir -p "$work/$name/web/dist" "$out"
cp "$page" "$work/$name/web/dist/index.html"
tar -C "$work" --sort=name --mtime="@$(git log -1 --format=%ct)" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
  -c "$name" | gzip -9n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
