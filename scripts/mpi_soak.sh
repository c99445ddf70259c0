#!/bin/bash
# Many short runs on oversubscribed ranks with random slow workers, graphs and buffers: none may hang, lose a
# gradient or end with different replicas, and every trace must pass the check.
#   mpi_soak.sh DASGD [RUNS] [RANKS] [MPIRUN...]    default: 200 runs on 8 ranks with mpirun --oversubscribe
set -euo pipefail
dasgd=$1 runs=${2:-200} ranks=${3:-8}
shift $(($# < 3 ? $# : 3))
launch=("$@")
[ $# -gt 0 ] || launch=(mpirun --oversubscribe)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # as in a container; Open MPI asks for both
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pick() { local n=$((RANDOM % $# + 1)); echo "${!n}"; }
for ((run = 1; run <= runs; ++run)); do
  RANDOM=$run  # every run can be repeated alone
  slow=$((RANDOM % ranks))
  arguments=(--model quadratic --lr 1e-4 --trace --quiet --seed "$run"
             --topology "$(pick ring full "torus:2x$((ranks / 2))" star directed-ring exponential tree:2)"
             --gradients "$((RANDOM % 60 + 1))" --in-flight "$(pick 2 3 8 64)"
             --slow "$slow:$((RANDOM % 20 + 1))" --slow "$(((slow + 1 + RANDOM % (ranks - 1)) % ranks)):$((RANDOM % 5 + 1))"
             --compute "$(pick 0s 50us 500us 2ms)" --polling "$(pick auto eager patient)"
             --message "$(pick full full int8 ternary)")
  [ "$((RANDOM % 2))" = 0 ] || arguments+=(--no-shared-memory)
  fail() { echo "run $run: $1: dasgd train ${arguments[*]}" >&2; exit 1; }
  timeout 120 "${launch[@]}" -n "$ranks" "$dasgd" train "${arguments[@]}" --out "$work/run" ||
    fail "status $?"
  grep -q '"lost": 0,' "$work/run/summary.json" || fail "lost gradients"
  grep -q '"replicas_identical": true,' "$work/run/summary.json" || fail "replicas differ"
  "$dasgd" check "$work/run/trace.jsonl" >/dev/null || fail "the trace is broken"
done
echo "$runs runs on $ranks ranks: nothing hung, nothing was lost"
