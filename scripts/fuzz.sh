#!/bin/sh
# Runs every fuzzer of a build for some seconds and prints what came of it; status 1 if one found something.
#   fuzz.sh BUILD SECONDS [JOBS] [NAME...]
# One input may take FUZZ_TIMEOUT seconds (10): of the clock, so give more on a machine that is too busy.
# What is interesting is kept in BUILD/corpus/NAME, for the next time; an input that fails in BUILD/findings/NAME-*.
set -eu
build=$(cd "$1" && pwd) seconds=$2 jobs=${3:-1}
if [ $# -gt 3 ]; then shift 3; else shift $#; fi
committed=$(cd "$(dirname "$0")/../tests/fuzz/corpus" && pwd)
mkdir -p "$build/findings"

if [ $# -eq 0 ]; then
  for program in "$build"/fuzz_*; do [ -x "$program" ] && set -- "$@" "${program##*/fuzz_}"; done
fi
export build seconds committed
# One program per name, each with a log of its own. Inputs of 16 KiB reach everything that parsers do.
printf '%s\n' "$@" | xargs -P "$jobs" -I NAME sh -c '
  mkdir -p "$build/corpus/NAME"
  "$build/fuzz_NAME" -max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-10}" -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix="$build/findings/NAME-" "$build/corpus/NAME" "$committed/NAME" >"$build/findings/NAME.log" 2>&1 ||
    echo "fuzz.sh: NAME failed; see $build/findings/NAME.log" >&2'

found=0
printf '%-16s %12s %8s %9s\n' fuzzer executions seconds findings
for name in "$@"; do
  log=$build/findings/$name.log
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  took=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$log")
  bad=$(find "$build/findings" -name "$name-*" | wc -l)
  [ -n "$took" ] && [ "$bad" -eq 0 ] || found=1
  printf '%-16s %12s %8s %9s\n' "$name" "${runs:-?}" "${took:--}" "$bad"
done
exit $found
