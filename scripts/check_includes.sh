#!/bin/sh
# Prints which layer includes which, and fails on an arrow that does not point down. src/dasgd/layers.txt has the layers.
#   check_includes.sh [ROOT]    ROOT holds src/ and apps/ (default: the repository)
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
cd "${1:-$here}"
folders=src
[ -d apps ] && folders="src apps"

grep -rnE '^ *# *include +("[a-z_]+/|<dasgd/)' $folders --include='*.hpp' --include='*.cpp' | awk -v table="$here/src/dasgd/layers.txt" '
# The longest folder of a path that is in the table, or its first folder where none is.
function layer(path,  folder) {
  folder = path
  while (sub(/\/[^\/]*$/, "", folder)) if (folder in height) return folder
  return folder
}
BEGIN {
  while ((getline line < table) > 0) {
    n = split(line, word, " ")
    if (word[1] ~ /^[0-9]+$/) for (i = 2; i <= n; ++i) height[word[i]] = word[1] + 0
  }
}
{
  split($0, part, ":")
  file = part[1]; line = part[2]
  if (file == "src/dasgd/dasgd.hpp") next
  included = $0
  sub(/.*include +["<]/, "", included); sub(/[">].*/, "", included)
  from = file
  if (!sub(/^src\/dasgd\//, "", from)) sub(/^apps\/dasgd\//, "apps/", from)
  if (!sub(/^dasgd\//, "", included)) included = "apps/" included
  a = layer(from); b = layer(included)
  if (a == b) next
  if (!(a in height) || !(b in height)) {
    printf "%s:%s: %s is in no layer; add it to src/dasgd/layers.txt\n", file, line, a in height ? b : a
    bad = 1
    next
  }
  arrows[a " -> " b]++
  if (height[b] >= height[a]) {
    printf "%s:%s: %s (layer %d) must not include %s (layer %d)\n", file, line, a, height[a], b, height[b]
    bad = 1
  }
}
END {
  for (arrow in arrows) printf "%-32s %d\n", arrow, arrows[arrow] | "sort"
  close("sort")
  exit bad
}'
