#!/usr/bin/python3
"""What one worker that is 1,000 times slower costs the others, with real compute.

  slow_worker.py build/release/dasgd [--workers 8] [--slow 1000] [--turns 20] [--seconds 10] [-- MORE OPTIONS]

Each turn runs the CNN on threads twice: without the last worker, and with it `--slow` times slower. Prints of each run
the gradients per second of the others, page faults, context switches, the share of the kernel and whether oneDNN
computed, and of each turn the ratio of the rates. Fails when a ratio is below 0.97. One core for each worker, or the
last one takes time from the others while it computes.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

BAR = 0.97


def run(binary, workers, seconds, slow, more):
    """Gradients per second of all workers, or of all but the slow one, and what the kernel counted."""
    with tempfile.TemporaryDirectory() as parent:
        command = [binary, "train", "--model", "cnn", "--data", "fashion-mnist", "--batch", "32", "--lr", "0.01",
                   "--workers", str(workers), "--eval-every", "0", "--max-time", f"{seconds}s", "--no-report",
                   "--out", os.path.join(parent, "run")] + more
        if slow:
            command += ["--slow", f"{workers - 1}:{slow}"]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        errors = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{errors}")
        with open(os.path.join(parent, "run", "summary.json")) as file:
            summary = json.load(file)
    made = summary["gradients_by_worker"][:workers - 1] if slow else summary["gradients_by_worker"]
    gradients = sum(made)
    way = re.search(r"with(out)? oneDNN", errors)
    return {"way": way.group() if way else "",
            "rate": gradients / seconds, "waited": sum(summary["waited_seconds"]), "folded": summary["folded"],
            "faults": used.ru_minflt / max(1, gradients), "switches": used.ru_nivcsw / max(1, gradients),
            "sleeps": used.ru_nvcsw / max(1, gradients),
            "kernel": used.ru_stime / max(1e-9, used.ru_utime + used.ru_stime), "rss": used.ru_maxrss / 1024}


def show(name, found):
    print(f"  {name:<8} {found['rate']:8.1f} gradients/s; of each {found['faults']:8.1f} page faults,"
          f" {found['switches']:6.2f} switches, {found['sleeps']:6.2f} sleeps; kernel {100 * found['kernel']:4.1f} %,"
          f" {found['rss']:6.0f} MiB, folded {found['folded']}, waited {found['waited']:.2f} s,"
          f" {found['way']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--slow", type=float, default=1000)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("more", nargs="*")
    args = parser.parse_args()
    ratios = []
    for turn in range(args.turns):
        alone = run(args.binary, args.workers - 1, args.seconds, None, args.more)
        beside = run(args.binary, args.workers, args.seconds, args.slow, args.more)
        ratios.append(beside["rate"] / alone["rate"])
        print(f"turn {turn + 1}: {ratios[-1]:.3f}")
        show("alone", alone)
        show("beside", beside)
    print(f"ratios {min(ratios):.3f} to {max(ratios):.3f}, median {statistics.median(ratios):.3f};"
          f" {sum(r < BAR for r in ratios)} of {len(ratios)} below {BAR}")
    sys.exit(1 if min(ratios) < BAR else 0)


if __name__ == "__main__":
    main()
