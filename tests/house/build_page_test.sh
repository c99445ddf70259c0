#!/bin/sh
# Without npm the page comes from web/dist where an archive carries it; else reports are off, and the build goes on.
set -eu
cmake=$1
script=$(cd "$(dirname "$0")/../../cmake" && pwd)/build_page.cmake
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/web/dist"
build() { "$cmake" -DWEB="$work/web" -DWORK="$work/page" -DOUT="$work/page_data.cpp" -DNPM="$1" -P "$script" 2>&1; }

said=$(build NPM-NOTFOUND)
case $said in *"Reports are off"*) ;; *) echo "said: $said"; exit 1 ;; esac
grep -q 'bytes\[\] = {0}' "$work/page_data.cpp" || { echo "the page is not empty"; exit 1; }

printf 'A"B' >"$work/web/dist/index.html"
said=$(build NPM-NOTFOUND)
case $said in *"comes from web/dist"*) ;; *) echo "said: $said"; exit 1 ;; esac
grep -q 'bytes\[\] = {0x41,0x22,0x42,0}' "$work/page_data.cpp" || { echo "the page is not embedded"; exit 1; }

# An npm that cannot reach its registry is as good as none.
printf '{}' >"$work/web/package.json"
printf '{}' >"$work/web/package-lock.json"
printf '#!/bin/sh\necho "no network" >&2\nexit 1\n' >"$work/npm"
chmod +x "$work/npm"
said=$(build "$work/npm")
case $said in *"cannot be installed: no network"*"comes from web/dist"*) ;; *) echo "said: $said"; exit 1 ;; esac
