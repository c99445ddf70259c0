#!/bin/bash
# Several machines on one: every rank in a network namespace and with a host name of its own, joined by a bridge, with
# delay and loss on every link where the kernel has netem. Needs root, ip, and Open MPI.
#   mpi_namespaces.sh DASGD [MACHINES] [NETEM...]     e.g. mpi_namespaces.sh build/release/dasgd 4 delay 2ms loss 1%
# With RATE=50mbit in the environment every card carries that much in each direction, and ranks share no memory; TRAIN has other
# options of dasgd train. The last lines are the summary of the run and the check of its trace.
set -euo pipefail
dasgd=$(realpath "$1") machines=${2:-4}
shift $(($# < 2 ? $# : 2))
work=$(mktemp -d)
name=dasgd$$
clean_up() {
  for ((i = 1; i <= machines; ++i)); do ip netns delete "$name-$i" 2>/dev/null || true; done
  ip link delete "${name:0:12}" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

ip link add "${name:0:12}" type bridge
ip address add 10.201.0.254/24 dev "${name:0:12}"
ip link set "${name:0:12}" up
hosts=""
for ((i = 1; i <= machines; ++i)); do
  ip netns add "$name-$i"
  ip link add "v$$-$i" type veth peer name eth0 netns "$name-$i"
  ip link set "v$$-$i" master "${name:0:12}" up
  ip -n "$name-$i" address add "10.201.0.$i/24" dev eth0
  ip -n "$name-$i" link set eth0 up
  ip -n "$name-$i" link set lo up
  if [ -n "${RATE:-}" ]; then
    shape=(root tbf rate "$RATE" burst 32kb latency 400ms)
    tc qdisc add dev "v$$-$i" "${shape[@]}"
    ip netns exec "$name-$i" tc qdisc add dev eth0 "${shape[@]}"
  fi
  if [ $# -gt 0 ]; then
    ip netns exec "$name-$i" tc qdisc add dev eth0 root netem "$@" ||
      { echo "this kernel has no netem; going on without $*" >&2; set --; }
  fi
  hosts+="${hosts:+,}10.201.0.$i:1"
done

# What mpirun uses instead of ssh: agent HOST COMMAND...
cat >"$work/agent" <<AGENT
#!/bin/sh
number=\${1##*.}; shift
exec ip netns exec $name-\$number unshare --uts sh -c "hostname machine-\$number; \$*"
AGENT
chmod +x "$work/agent"

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
timeout 300 mpirun --host "$hosts" --mca plm_rsh_agent "$work/agent" --mca plm_rsh_no_tree_spawn 1 \
  --mca btl tcp,self --mca pml ob1 --mca btl_tcp_if_include 10.201.0.0/24 --mca oob_tcp_if_include 10.201.0.0/24 \
  --bind-to none -n "$machines" "$dasgd" train ${RATE:+--no-shared-memory} \
  ${TRAIN:---model quadratic --lr 1e-4 --gradients 200 --compute 2ms --topology ring --log-ranks} \
  --trace --out "$work/run"
"$dasgd" check "$work/run/trace.jsonl"
grep -E '"(folded|links_why|message|relay|S_avg|wall_seconds)"' "$work/run/summary.json"
grep -A "$((machines + 1))" clock_offsets "$work/run/summary.json"
