#!/usr/bin/python3
"""Wall time to an accuracy: threads of dasgd with and without look-ahead, and PyTorch DDP over gloo with the same rule.

  time_to_accuracy.py build/release/dasgd [--workers 8] [--slow 10] [--rule nesterov] [--goal 0.86] [--turns 3] [--lr 0.005 0.01]

The paper's CNN on Fashion-MNIST, batch 32, the last worker --slow times slower. Each way runs with each --lr, in turns: dasgd with
the step as given, DDP, which steps along the mean of n gradients, with n times as much (Adam, too). Prints the seconds of each run
and the medians; a run that does not reach the goal counts as --limit seconds.
"""
import argparse
import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def run_dasgd(a, lr, look_ahead, work):
    command = [a.dasgd, "train", "--model", "cnn", "--data", "fashion-mnist", "--workers", a.workers, "--batch", 32, "--lr", lr, "--rule", a.rule,
               "--look-ahead", look_ahead, "--epochs", 1000, "--max-time", f"{a.limit}s", "--target-accuracy", a.goal, "--eval-every", f"{a.eval_every}s",
               "--checkpoint-every", "0s", "--no-report", "--quiet", "--out", work, *(["--slow", f"{a.workers - 1}:{a.slow:g}"] if a.slow > 1 else [])]
    if subprocess.run(list(map(str, command)), stderr=subprocess.DEVNULL).returncode:
        return {"seconds": a.limit, "reached": False, "accuracy": 0.0, "per_second": 0.0, "S_avg": 0.0}  # diverged
    s = json.loads((work / "summary.json").read_text())
    return {"seconds": max(s["time"]) * 1e-9, "reached": s["stop_reason"].startswith("target"), "accuracy": s["accuracy"],
            "per_second": s["gradients"] / (max(s["time"]) * 1e-9), "S_avg": s["S_avg"]}


def run_ddp(a, lr):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    command = [sys.executable, HERE / "ddp_to_goal.py", "--ranks", a.workers, "--address", f"127.0.0.1:{port}", "--lr", lr * a.workers, "--rule", a.rule,
               "--slow", a.slow, "--goal", a.goal, "--eval-every", a.eval_every, "--limit", a.limit, "--rank"]
    running = [subprocess.Popen([*map(str, command), str(k)], stdout=subprocess.PIPE if k == 0 else subprocess.DEVNULL, env=environment, text=True)
               for k in range(a.workers)]
    out = running[0].communicate()[0]
    for p in running:
        p.wait()
    return json.loads(out.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dasgd")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--slow", type=float, default=10)
    parser.add_argument("--rule", choices=["sgd", "nesterov", "adam"], default="nesterov")
    parser.add_argument("--lr", type=float, nargs="+", default=[0.0025, 0.005, 0.01])
    parser.add_argument("--goal", type=float, default=0.86)
    parser.add_argument("--eval-every", type=float, default=1)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", default="look-ahead,off,ddp")
    a = parser.parse_args()
    ways = {"look-ahead": lambda lr, work: run_dasgd(a, lr, "auto", work), "off": lambda lr, work: run_dasgd(a, lr, "off", work),
            "ddp": lambda lr, work: run_ddp(a, lr)}
    found = {}
    print(f"{a.workers} workers, one {a.slow:g}x slower, {a.rule}, accuracy {a.goal}")
    for _ in range(a.turns):
        for lr in a.lr:
            for name in a.only.split(","):
                with tempfile.TemporaryDirectory() as work:
                    f = ways[name](lr, pathlib.Path(work))
                found.setdefault((name, lr), []).append(f["seconds"] if f["reached"] else a.limit)
                print(f"{name:11} lr {lr:<7} {f['seconds']:6.1f} s{'' if f['reached'] else ' (goal not reached)'}  accuracy {f['accuracy']:.3f}  "
                      f"{f['per_second']:.0f} gradients/s  S_avg {f['S_avg']:.1f}", flush=True)
    for (name, lr), seconds in found.items():
        print(f"median {name:11} lr {lr:<7} {statistics.median(seconds):6.1f} s")


if __name__ == "__main__":
    main()
