#!/bin/bash
# Slurm on this machine alone, with dasgd under srun: starts munged, slurmctld and slurmd with a configuration in a
# temporary directory, runs, checks the trace, stops them. Needs root and Debian's slurm-wlm and munge.
#   mpi_slurm.sh DASGD [RANKS] [pmix|pmi2]     pmix for Open MPI, pmi2 for MPICH
set -euo pipefail
dasgd=$(realpath "$1") ranks=${2:-4} mpi=${3:-pmix}
work=$(mktemp -d)
host=$(hostname)
stop() {
  for daemon in slurmd slurmctld munged; do
    [ -f "$work/$daemon.pid" ] || continue
    process=$(cat "$work/$daemon.pid")
    kill "$process" && timeout 10 tail --pid="$process" -f /dev/null
  done
  rm -rf "$work"
}
trap stop EXIT

mkdir "$work/state" "$work/spool"
chmod 755 "$work"
dd if=/dev/urandom of="$work/key" bs=128 count=1 status=none
chmod 600 "$work/key"
cat >"$work/slurm.conf" <<CONF
ClusterName=local
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=$ranks State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
CONF
export SLURM_CONF=$work/slurm.conf
munged --force --key-file="$work/key" --socket="$work/munge.socket" --pid-file="$work/munged.pid" \
  --log-file="$work/munged.log" --seed-file="$work/munged.seed"
slurmctld -f "$SLURM_CONF"
slurmd -f "$SLURM_CONF"
timeout 60 bash -c 'until sinfo -h -o %t | grep -q idle; do sleep 0.2; done'
timeout 120 srun --mpi="$mpi" -n "$ranks" "$dasgd" train --model quadratic --topology ring --gradients 200 --lr 1e-4 \
  --compute 1ms --trace --out "$work/run"
"$dasgd" check "$work/run/trace.jsonl"
