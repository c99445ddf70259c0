#!/bin/sh
# The link check of the site finds a missing file, a missing place and a missing picture, and passes a good site.
set -eu
check=$(cd "$(dirname "$0")/../../site" && pwd)/check_links.py
site=$(mktemp -d)
trap 'rm -rf "$site"' EXIT
mkdir "$site/docs"
echo '<h1 id="top">a</h1><a href="docs/b.html#here">b</a><a href="#top">up</a><a href="https://example.org/">out</a>' >"$site/index.html"
echo '<p id="here">b</p><a href="../index.html">a</a>' >"$site/docs/b.html"
/usr/bin/python3 "$check" "$site" | grep -q '2 pages, 3 links, 0 broken'
expect() {
  echo "$1" >"$site/docs/c.html"
  if said=$(/usr/bin/python3 "$check" "$site"); then echo "not found: $1"; exit 1; fi
  case $said in *"docs/c.html: $2"*) ;; *) echo "said: $said"; exit 1 ;; esac
}
expect '<a href="none.html">x</a>' none.html
expect '<a href="b.html#there">x</a>' 'b.html#there (no such place)'
expect '<img src="../none.png">' ../none.png
