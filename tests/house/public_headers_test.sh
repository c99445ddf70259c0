#!/bin/sh
# What examples, documentation and outside projects include is in cmake/public_headers.txt, and what is in there exists.
#   public_headers_test.sh ROOT
set -eu
cd "$1"
list=$(grep -v '^#' cmake/public_headers.txt)
bad=0
for header in $list; do
  [ -f "src/dasgd/$header" ] || { echo "cmake/public_headers.txt: there is no $header"; bad=1; }
done
used=$(grep -rhoE '#include ["<]dasgd/[^">]+' examples docs site/pages README.md tests/install | sed 's/.*["<]dasgd.//' | sort -u)
for header in $used; do
  echo "$list" | grep -qx "$header" || { echo "$header is shown to users but is not in cmake/public_headers.txt"; bad=1; }
done
exit $bad
