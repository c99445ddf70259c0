#!/bin/sh
# Checks networks on GPUs: arithmetic bit for bit, whole steps, training with several workers. Ends with counts.
#   check_cuda.sh LIBTORCH [BUILD]    the directory of a LibTorch with CUDA (what CMAKE_PREFIX_PATH takes)
set -eu
libtorch=${1:?usage: check_cuda.sh LIBTORCH [BUILD]}
cd "$(dirname "$0")/.."
build=${2:-build/cuda}
[ -x "$build"/adapters_tests ] && [ -x "$build"/dasgd ] || {
  cmake -G Ninja -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_PREFIX_PATH="$libtorch" -DDASGD_TORCH=ON \
        -DDASGD_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$build" --target dasgd_app dasgd_networks adapters_tests
}
"$build"/adapters_tests --gtest_list_tests | grep -q GpuBy ||
  { echo "check_cuda.sh: LibTorch sees no GPU here" >&2; exit 1; }
log=$(mktemp)
runs=$(mktemp -d)
trap 'rm -rf "$log" "$runs"' EXIT
failed=0
"$build"/adapters_tests >"$log" 2>&1 || failed=1
[ $failed = 0 ] || tail -n 20 "$log"

# The same run on the CPU and on GPUs; every worker's replica is audited bit for bit.
clean=0
all=0
for run in "cpu 4" "cuda 1" "cuda 2" "cuda 4" "cuda 2 --no-graph" "cuda 2 --precision bf16 --channels-last" \
           "cuda 3 --rule momentum --lr 0.005 --slow 2:10"; do
  set -- $run
  device=$1 workers=$2
  shift 2
  all=$((all + 1))
  "$build"/dasgd train --model cnn --data fashion-mnist --device "$device" --workers "$workers" --epochs 1 --quiet --trace \
                 --out "$runs/$all" "$@" >/dev/null && "$build"/dasgd check "$runs/$all" >/dev/null &&
    python3 - "$run" "$runs/$all/summary.json" <<'PYTHON' && clean=$((clean + 1))
import json, sys
s = json.load(open(sys.argv[2]))
assert s["replicas_identical"] and s["lost"] == 0 and s["duplicated"] == 0
print(f"{sys.argv[1]:45} {s['samples'] / max(s['time']) * 1e9:9.0f} images/s, accuracy {s['accuracy']:.4f}")
PYTHON
done
# Two ranks that share the GPU: as MPI is, and by way of this machine's memory.
for aware in 1 0; do
  command -v mpirun >/dev/null || break
  all=$((all + 1))
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_opal_cuda_support=$aware mpirun --oversubscribe --bind-to none -n 2 \
    "$build"/dasgd train --model cnn --data fashion-mnist --device cuda --epochs 1 --trace --out "$runs/$all" 2>/dev/null | grep "^updates go" || true
  "$build"/dasgd check "$runs/$all" >/dev/null && clean=$((clean + 1))
done

# A driver that is too old, a GPU that is taken, one that is lost: one line, the right status, the checkpoint kept.
"${CC:-cc}" -shared -fPIC -o "$runs/broken_cuda.so" tests/gpu/broken_cuda.c -ldl
reported=0
broken() { # NAME HOW STATUS WORDS
  status=0
  LD_PRELOAD="$runs/broken_cuda.so" BROKEN_CUDA=$2 timeout 120 "$build"/dasgd train --model cnn --data fashion-mnist --device cuda --workers 2 \
    --epochs 50 --checkpoint-every 1s --quiet --out "$runs/$1" >/dev/null 2>"$runs/said" || status=$?
  if [ $status = "$3" ] && grep -q "^dasgd: .*$4" "$runs/said" && [ "$(grep -c . "$runs/said")" = 1 ]; then
    reported=$((reported + 1))
  else
    echo "$1: status $status, said:"
    cat "$runs/said"
  fi
}
broken old old 2 "driver"
broken busy busy 1 "the GPU cannot be used: .*busy or unavailable"
broken lost "lost:$runs/lost/checkpoints/checkpoint-000001.dasgd" 1 "the GPU cannot be used: "
if "$build"/dasgd train --resume "$runs/lost" --max-time 1s --quiet >/dev/null; then reported=$((reported + 1)); else echo "a lost GPU took the checkpoint with it"; fi
count() { sed -n "s/^\[  $1 *\] \([0-9]*\) test.*/\1/p" "$log" | tail -1; }
echo "tests: $(count PASSED) passed, $(grep -c '^\[  FAILED  \] .*(.* ms)$' "$log" || true) failed, $(grep -c '^\[  SKIPPED \] .*(.* ms)$' "$log" || true) skipped; runs: $clean of $all clean; broken GPUs: $reported of 4 reported"
[ $failed = 0 ] && [ $clean = $all ] && [ $reported = 4 ]
