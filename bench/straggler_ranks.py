#!/usr/bin/python3
"""What a rank that is slow, paused or stopped costs the other three.

  straggler_ranks.py build/release/dasgd [--seconds 4] [--rounds 3]
Prints the gradients per second of three ranks beside a fourth, of the same three alone, in turns, as medians, and
the peak memory of a rank against the formula of docs/design.md. Every gradient is padded to 5 ms, so that four
ranks fit on two cores. Fails when a ratio is below 0.97 or the formula is exceeded.
"""
import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from noise import Noise

BAR, IN_FLIGHT, COMPUTE_MS, DIMENSION = 0.97, 16, 5, 7850


def ranks_of(out):
    """rank -> process id, of the job that writes to `out`."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                if out not in file.read().split("\0"):
                    continue
            with open(f"/proc/{pid}/environ") as file:
                variables = dict(v.partition("=")[::2] for v in file.read().split("\0"))
        except OSError:
            continue  # it has ended meanwhile
        rank = variables.get("OMPI_COMM_WORLD_RANK") or variables.get("PMI_RANK")
        if rank is not None:
            found[int(rank)] = int(pid)
    return found


def peak_kib(pid):
    try:
        with open(f"/proc/{pid}/status") as file:
            return int(next(line for line in file if line.startswith("VmHWM")).split()[1])
    except (OSError, StopIteration):
        return 0


def run(binary, ranks, seconds, extra, stop=None):
    """Gradients per second of the first three ranks, and the peak memory of a rank in KiB. `stop`: the last rank
    hangs from so many seconds after the first gradient to so many."""
    with tempfile.TemporaryDirectory() as parent:
        out = os.path.join(parent, "run")
        command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), binary, "train", "--model",
                   "softmax", "--data", "fashion-mnist", "--batch", "16", "--lr", "0.0005", "--compute",
                   f"{COMPUTE_MS}ms", "--in-flight", str(IN_FLIGHT), "--eval-every", "0", "--max-time", f"{seconds}s",
                   "--quiet", "--out", out] + extra
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        job = subprocess.Popen(command, env=environment)
        peak, began, stopped = 0, None, None
        while job.poll() is None:
            time.sleep(0.05)
            pids = ranks_of(out)
            peak = max([peak] + [peak_kib(pid) for pid in pids.values()])
            if began is None and os.path.isdir(out) and len(pids) == ranks:
                began = time.monotonic()
            passed = time.monotonic() - began if began else 0
            if stop and stopped is None and passed > stop[0]:
                stopped = pids.get(ranks - 1)
                os.kill(stopped, signal.SIGSTOP)
            if stop and stopped and passed > stop[1]:
                os.kill(stopped, signal.SIGCONT)
                stop = None
        if job.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {job.returncode}")
        with open(os.path.join(out, "summary.json")) as file:
            summary = json.load(file)
    assert summary["replicas_identical"] and summary["lost"] == 0
    return sum(summary["gradients_by_worker"][:3]) / seconds, peak, summary["folded"]


def formula_kib(ranks, behind):
    """What buffers, bundles and names may take in a rank, as docs/design.md has it."""
    n, d = ranks, DIMENSION
    bundles = (2 + math.log2(max(2, behind))) * 8 * d
    return (n * IN_FLIGHT * 4 * d + n * 8 * 4 * d + n * bundles + n * behind * (48 + 4 * n)) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    noise, s = Noise(), a.seconds
    stragglers = {
        "equal": ([], None),
        "1000 times slower": (["--slow", "3:1000"], None),
        "paused": (["--pause", "3:100ms:1h"], None),
        f"stopped for {s / 2:.0f} s": (["--rank-timeout", "60s"], (s / 4, 3 * s / 4)),
    }
    ratios, peaks, folded, alone_peaks = {k: [] for k in stragglers}, {k: 0 for k in stragglers}, {}, []
    for _ in range(a.rounds):
        alone, peak_alone, _ = run(a.binary, 3, s, [])
        alone_peaks.append(peak_alone)
        for name, (extra, stop) in stragglers.items():
            rate, peak, folded[name] = run(a.binary, 4, s, extra, stop)
            ratios[name].append(rate / alone)
            peaks[name] = max(peaks[name], peak)
    behind = 4 * s * 1000 / COMPUTE_MS  # every gradient of all ranks
    limit, good = formula_kib(4, behind), True
    print(f"three ranks beside a fourth, gradients per second, of the same three alone (bar {BAR}); peak memory beyond "
          "theirs, by the formula at most")
    for name, values in ratios.items():
        ratio, more = statistics.median(values), peaks[name] - statistics.median(alone_peaks)
        good = good and ratio >= BAR and more <= limit
        print(f"  {name:<18} {ratio:.3f} {'' if ratio >= BAR else 'MISSED':<6}  {more / 1024:5.1f} MB of "
              f"{limit / 1024:.1f} MB{'' if more <= limit else ' EXCEEDED'}  {folded[name]} folded", flush=True)
    noise.report()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
