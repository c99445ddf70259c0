#!/usr/bin/python3
"""--lr auto against the best of nine step sizes after as many samples, and over runs drawn at random.

  lr_auto.py build/release/dasgd [--data fashion-mnist] [--models softmax,cnn] [--worlds 1,2,2s,8,8s] [--seeds 1] [--cores N] [--virtual]
  lr_auto.py build/release/dasgd --random 100      models, workers, batches, speeds and seeds by chance: none may diverge
Grid: 0.001 to 10 in steps of the root of ten; 1, 2 and 8 workers, equal and (s) with one 10x slower. In the grid every worker has a
core of its own, as far as there are as many, or with --virtual in virtual time; runs drawn at random crowd them. Every result is printed as it comes.
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

GRID = [float(f"{0.001 * 10 ** (k / 2):.3g}") for k in range(9)]
GRADIENTS = {"softmax": 3750, "mlp": 3750, "cnn": 1250}
AT_RANDOM = {"softmax": 1250, "mlp": 1250, "cnn": 300}

START = time.monotonic()


class Cores:
    """As many as a run has workers, for its time."""

    def __init__(self, count):
        self.count, self.free, self.changed = count, count, threading.Condition()

    def run(self, wanted, work):
        wanted = min(wanted, self.count)
        with self.changed:
            self.changed.wait_for(lambda: self.free >= wanted)
            self.free -= wanted
        try:
            return work()
        finally:
            with self.changed:
                self.free += wanted
                self.changed.notify_all()


REAL = ["train", "--eval-every", "0s", "--checkpoint-every", "0s"]
VIRTUAL = ["simulate", "--compute", "lognormal:20ms:0.1"]


def train(binary, workers, options, way=REAL):
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([binary, *way, "--workers", str(workers), *options, "--quiet", "--no-report", "--out", out],
                              capture_output=True, text=True)
        try:
            with open(os.path.join(out, "summary.json")) as file:
                return {"status": done.returncode, **json.load(file)}
        except FileNotFoundError:
            return {"status": done.returncode, "stop_reason": done.stderr.strip()}


def grid(a, cores, pool):
    worlds = [(int(world.rstrip("s")), world.endswith("s")) for world in a.worlds.split(",")]
    seeds = range(a.seed, a.seed + a.seeds)

    def name(model, workers, slow):
        return f"{model:<8} {workers} workers{', one 10x slower' if slow else '':<17}"

    def one(model, workers, slow, lr, seed):
        options = ["--model", model, "--data", a.data, "--batch", "32", "--total-gradients", str(GRADIENTS[model]), "--lr",
                   str(lr), "--seed", str(seed)] + (["--slow", f"{workers - 1}:10"] if slow else [])
        result = cores.run(workers, lambda: train(a.binary, workers, options, VIRTUAL if a.virtual else REAL))
        print(f"  {name(model, workers, slow)} seed {seed}, step {lr:<7} {100 * (result.get('accuracy') or 0):6.2f} %, "
              f"{result.get('virtual_seconds', result.get('wall_seconds', 0)):.1f} s of training, over after {time.monotonic() - START:.0f} s", flush=True)
        return result

    wanted = [(m, w, s, lr, seed) for m in a.models.split(",") for w, s in worlds for lr in ["auto", *GRID]
              for seed in seeds]
    # Runs with many workers come first; those with few then fill the cores beside them.
    runs = {job: pool.submit(one, *job) for job in sorted(wanted, key=lambda job: -job[1])}
    found = {}
    bad = 0
    print(f"Accuracy after as many samples, mean of {a.seeds} seeds; points that auto is above the best of the grid", flush=True)
    for m in a.models.split(","):
        for w, s in reversed(worlds):
            found.update({job: run.result() for job, run in runs.items() if job[:3] == (m, w, s)})

            def mean(lr):
                return sum(100 * (found[m, w, s, lr, seed].get("accuracy") or 0) for seed in seeds) / a.seeds

            best = max(GRID, key=mean)
            etas = ", ".join(f"{found[m, w, s, 'auto', seed].get('eta') or 0:.3g}" for seed in seeds)
            bad += mean("auto") < mean(best) - 1
            print(f"{name(m, w, s)} auto {mean('auto'):6.2f} % (step {etas})   best "
                  f"{mean(best):6.2f} % ({best})   {mean('auto') - mean(best):+.2f}", flush=True)
    return bad


def by_chance(a, cores, pool):
    draw = random.Random(a.seed)
    jobs = []
    for k in range(a.random):
        model = draw.choice(a.models.split(",") + ["mlp"])
        workers = draw.randint(1, 12)
        options = ["--model", model, "--data", a.data, "--batch", str(draw.choice([8, 16] if model == "cnn" else [8, 32, 128])), "--total-gradients",
                   str(draw.randint(100, AT_RANDOM[model])), "--seed", str(k + 1), "--lr", "auto"]
        if workers > 1 and draw.random() < 0.5:
            options += ["--slow", f"{draw.randrange(workers)}:{draw.choice([2, 10, 100])}"]
        jobs.append((workers, options))
    found, bad = [], []
    runs = {pool.submit(lambda job=job: cores.run(1, lambda: train(a.binary, *job))): job for job in jobs}
    for run in concurrent.futures.as_completed(runs):
        job, f = runs[run], run.result()
        found.append((f, job))
        if f["status"] != 0 or not f.get("loss", float("nan")) < float("inf"):
            bad.append(job)
            print("diverged or failed:", "--workers", job[0], *job[1], "->", f["stop_reason"], flush=True)
        if len(found) % 10 == 0:
            print(f"{len(found)} runs, {len(bad)} of them diverged or failed, {time.monotonic() - START:.0f} s", flush=True)
    worst = min((f["accuracy"], job) for f, job in found if f["status"] == 0)
    print(f"{len(jobs)} runs drawn at random: {len(bad)} diverged or failed; the least accurate: {worst[0]:.3f}, --workers "
          f"{worst[1][0]} {' '.join(worst[1][1])}")
    return len(bad)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--data", default="fashion-mnist")
    parser.add_argument("--models", default="softmax,cnn")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="the first one; that of the draw at random")
    parser.add_argument("--worlds", default="1,2,2s,8,8s")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--virtual", action="store_true", help="every worker has a core of its own in virtual time")
    parser.add_argument("--random", type=int, metavar="RUNS", help="instead of the grid")
    a = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(2 * a.cores) as pool:
        bad = (by_chance if a.random else grid)(a, Cores(a.cores), pool)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
