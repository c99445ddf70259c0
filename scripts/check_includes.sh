#!/bin/sh
# Prints which room includes which, and fails on an arrow that does not point down.
#   check_includes.sh [ROOT]    ROOT holds src/ and apps/ (default: the repository)
# A room is a folder of src/dasgd or of apps/dasgd, or a folder in one of these: transport/mpi, data/rows. What is deeper belongs to that.
set -eu
root=${1:-$(dirname "$0")/..}
cd "$root"
folders=src
[ -d apps ] && folders="src apps"

grep -rnE '^ *# *include +("[a-z_]+/|<dasgd/)' $folders --include='*.hpp' --include='*.cpp' | awk '
# The floors, from the ground up. Within a folder its rooms stand beside each other, above or below what is common.
function level(room) {
  if (room ~ /^base$/) return 0.5
  if (room ~ /^base\/files$/) return 0.7
  if (room ~ /^(core|random)$/) return 1
  if (room ~ /^(theory|staleness|topology|data|rules)$/) return 2
  if (room ~ /^data\/(preparation|draws)$/) return 2.2
  if (room ~ /^data\/(rows|images|arrays)$/) return 2.4
  if (room ~ /^data\/stream$/) return 2.6
  if (room ~ /^(problems|transport|record)$/) return 3
  if (room ~ /^record\/(trace|checkpoints)$/) return 3.2
  if (room ~ /^(transport\/(in_process|mpi|faulty|tcp)|adapters\/torch)$/) return 3.5
  if (room ~ /^(run|models|virtual_time)$/) return 4
  if (room ~ /^(elastic\/membership|models\/description)$/) return 4.2
  if (room ~ /^elastic\/adoption$/) return 4.3
  if (room ~ /^(elastic|runtime\/boards)$/) return 4.5
  if (room ~ /^(report|runtime|sim|rivals|elastic\/world)$/) return 5
  if (room ~ /^(rivals\/methods|report\/tables)$/) return 5.2
  if (room ~ /^report\/charts$/) return 5.4
  if (room ~ /^report\/page$/) return 5.6
  if (room ~ /^referee\/contest$/) return 5.8
  if (room ~ /^(advice|archive|experiments|referee|watch|cluster|members)$/) return 6
  if (room ~ /^(referee\/page|planner)$/) return 6.5
  if (room ~ /^config$/) return 7
  if (room ~ /^settings$/) return 8
  if (room ~ /^settings\/tasks$/) return 8.5
  if (room ~ /^app:(terminal|fetch)$/) return 9
  if (room ~ /^app:(ranks|manual)$/) return 10
  if (room ~ /^app:(commands|reproduce|sweep)$/) return 11
  if (room ~ /^app:cli$/) return 12
  if (room ~ /^app:main$/) return 13
  return 0
}
{
  split($0, part, ":")
  file = part[1]; line = part[2]
  included = $0
  sub(/.*include +["<]/, "", included); sub(/[">].*/, "", included)
  if (file == "src/dasgd/dasgd.hpp") next
  n = split(file, from, "/"); m = split(included, to, "/")
  a = from[1] == "apps" ? "app:" (n == 3 ? "main" : from[3]) : n >= 5 ? from[3] "/" from[4] : from[3]
  b = to[1] != "dasgd" ? "app:" to[1] : m >= 4 ? to[2] "/" to[3] : to[2]
  if (a == b) next
  if (!level(a) || !level(b)) {
    printf "%s:%s: %s is in no known layer; add it to check_includes.sh\n", file, line, level(a) ? b : a
    bad = 1
    next
  }
  arrows[a " -> " b]++
  if (level(b) >= level(a)) {
    printf "%s:%s: %s (layer %s) must not include %s (layer %s)\n", file, line, a, level(a), b, level(b)
    bad = 1
  }
}
END {
  for (arrow in arrows) printf "%-32s %d\n", arrow, arrows[arrow] | "sort"
  close("sort")
  exit bad
}'
