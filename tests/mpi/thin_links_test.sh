#!/bin/bash
# Four ranks behind thin cards, over a mesh and over a tree, in full messages and in few bits: full ones wait for links and are
# folded, and nothing is lost. Status 77, skipped, where there can be no namespaces (root, ip, tc) or no Open MPI.
#   thin_links_test.sh MPI_NAMESPACES_SH DASGD
set -euo pipefail
script=$1 dasgd=$2
work=$(mktemp -d)
probe=dasgd-probe$$
trap 'rm -rf "$work"; ip netns delete "$probe" 2>/dev/null || true' EXIT
mpirun --version 2>/dev/null | grep -q "Open MPI" || { echo "no Open MPI"; exit 77; }
ip netns add "$probe" 2>/dev/null && ip netns exec "$probe" ip link set lo up 2>/dev/null &&
  ip netns exec "$probe" tc qdisc add dev lo root tbf rate 10mbit burst 32kb latency 400ms 2>/dev/null ||
  { echo "no network namespaces here"; exit 77; }

# Forty samples with 20,000 features.
for ((k = 1; k <= 40; ++k)); do echo "$((k % 2 * 2 - 1)) $k:1 $((k + 100)):0.5 20000:1"; done >"$work/data"
run() {
  export RATE=20mbit
  export TRAIN="--model logistic --data $work/data --batch 4 --lr 0.01 --gradients 150 --compute 2ms --rank-timeout 1min $*"
  "$script" "$dasgd" 4 >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
  grep -q "lost 0, duplicated 0, replicas identical" "$work/out" || { cat "$work/out"; exit 1; }
}
run --relay mesh
grep -q '"folded": [1-9]' "$work/out" || { cat "$work/out"; echo "nothing was folded"; exit 1; }
run --relay mesh --message int8
run --relay tree:2 --message int4
run --relay auto --message auto
echo "four runs behind thin cards: nothing was lost"
