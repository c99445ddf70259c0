#!/usr/bin/python3
"""n ranks, and n threads, against n runs of one worker at the same time that know nothing of each other.

  ranks.py build/release/dasgd [--ranks 16] [--seconds 8] [--turns 3] [--ways ranks,threads] [-- MORE OPTIONS OF dasgd train]
In turns, as medians: gradients per second of all together. The runs apart are what the machine can do at most. Without more options it
is the CNN on Fashion-MNIST with batch 32. With `-- --device cuda --model resnet18 ...` all share one GPU.
"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import tempfile

from noise import Noise

CNN = ["--model", "cnn", "--data", "fashion-mnist", "--batch", "32", "--lr", "0.001"]


def rate(command, seconds):
    """Gradients per second of one job."""
    with tempfile.TemporaryDirectory() as parent:
        out = os.path.join(parent, "run")
        done = subprocess.run([*command, "--max-time", f"{seconds}s", "--eval-every", "0", "--checkpoint-every", "0", "--quiet", "--no-report", "--out", out],
                              env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"), capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
        with open(os.path.join(out, "summary.json")) as file:
            summary = json.load(file)
    assert summary["replicas_identical"]
    return summary["gradients"] / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--ranks", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--ways", default="ranks,threads")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    a, more = parser.parse_args(sys.argv[1:end]), sys.argv[end + 1:]
    noise, n = Noise(), a.ranks
    train = [a.binary, "train", *(more or CNN)]
    ways = {
        "ranks": lambda: rate(["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(n), *train], a.seconds),
        "threads": lambda: rate([*train, "--workers", str(n)], a.seconds),
    }
    ways = {way: ways[way] for way in a.ways.split(",")}
    apart, found = [], {way: [] for way in ways}
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        for _ in range(a.turns):
            apart.append(sum(pool.map(lambda _: rate([*train, "--workers", "1"], a.seconds), range(n))))
            for way, measure in ways.items():
                found[way].append(measure())
    print(f"{n} runs apart: {statistics.median(apart):.1f} gradients per second ({' '.join(f'{x:.1f}' for x in apart)})")
    for way, rates in found.items():
        shares = [with_others / alone for with_others, alone in zip(rates, apart)]
        print(f"{n} {way}: {statistics.median(rates):.1f} gradients per second, {statistics.median(shares):.2f} of that ({' '.join(f'{x:.2f}' for x in shares)})", flush=True)
    noise.report()
    return 0


if __name__ == "__main__":
    sys.exit(main())
