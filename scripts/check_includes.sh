#!/bin/sh
# Prints which layer includes which, and fails on an arrow that does not point down.
#   check_includes.sh [ROOT]    ROOT holds src/ (default: the repository)
set -eu
root=${1:-$(dirname "$0")/..}
cd "$root"

grep -rnE '^ *# *include +["<]dasgd/' src --include='*.hpp' --include='*.cpp' | awk '
function level(folder) {
  if (folder ~ /^(core|random)$/) return 1
  if (folder ~ /^(theory|staleness|topology|data|rules)$/) return 2
  if (folder ~ /^(problems|transport|record|adapters)$/) return 3
  if (folder ~ /^(plan)$/) return 4
  if (folder ~ /^(report|runtime|sim|baselines)$/) return 5
  if (folder ~ /^(advice|experiments|watch|cluster)$/) return 6
  return 0
}
{
  split($0, part, ":")
  file = part[1]; line = part[2]
  included = $0
  sub(/.*include +["<]/, "", included); sub(/[">].*/, "", included)
  if (file == "src/dasgd/dasgd.hpp") next
  n = split(file, from, "/"); m = split(included, to, "/")
  a = from[3]; b = to[2]
  if (!level(a) || !level(b)) {
    printf "%s:%s: %s is in no known layer; add it to check_includes.sh\n", file, line, level(a) ? b : a
    bad = 1
    next
  }
  if (a == b) {
    # Siblings inside a folder (transport/in_process, transport/mpi) never see each other.
    if (m == 4 && !(n == 5 && from[4] == to[3])) {
      printf "%s:%s: a sibling or parent must not include %s\n", file, line, included
      bad = 1
    }
    next
  }
  arrows[a " -> " b]++
  if (level(b) >= level(a)) {
    printf "%s:%s: %s (layer %d) must not include %s (layer %d)\n", file, line, a, level(a), b, level(b)
    bad = 1
  }
}
END {
  for (arrow in arrows) printf "%-24s %d\n", arrow, arrows[arrow] | "sort"
  close("sort")
  exit bad
}'
