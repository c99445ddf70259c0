#!/usr/bin/env python3
"""A PyTorch loop on unequal workers, the way docs/pytorch.md shows: its time against the ideal, its accuracy against one worker.

    bench/unequal_loop.py build/release/dasgd [--steps 600] [--compute 0.03] [--slow 4] [--seeds 2] [--schedule cosine]

A gradient takes `--compute` seconds, at the second worker `--slow` times as many: it sleeps after computing, so that a busy
machine changes little. With n workers of which one is x times slower, the ideal is 1 / (n - 1 + 1/x) of one worker's time.
"""
import argparse
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time

SCHEDULES = ("onecycle", "cosine", "warmup")


def work(arguments):
    import numpy
    import torch

    import dasgd.torch

    def read(name, skip):
        with gzip.open(f"{arguments.data}/{name}-ubyte.gz") as file:
            return torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8, offset=skip).copy())

    torch.set_num_threads(1)
    images, labels = read("train-images-idx3", 16).view(-1, 784).float() / 255, read("train-labels-idx1", 8).long()
    held_out, answers = read("t10k-images-idx3", 16).view(-1, 784).float() / 255, read("t10k-labels-idx1", 8).long()
    torch.manual_seed(arguments.seed)
    model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=arguments.lr)
    peer = dasgd.torch.Peer(model, optimizer=optimizer, seed=arguments.seed)
    loader = peer.loader(torch.utils.data.TensorDataset(images, labels), batch_size=64, epochs=arguments.steps * 64 / len(images))
    total = arguments.steps
    made = torch.optim.lr_scheduler
    peer.scheduler({
        "onecycle": lambda: made.OneCycleLR(optimizer, max_lr=arguments.lr, total_steps=total),
        "cosine": lambda: made.CosineAnnealingLR(optimizer, total),
        "warmup": lambda: made.LambdaLR(optimizer, lambda k: min(1.0, (k + 1) / (total / 10)) * max(0.0, 1 - k / total)),
    }[arguments.schedule]())
    place = os.environ.get("DASGD_MEMBER_DIR", "")
    seconds = arguments.compute * (arguments.slow if peer.rank == 1 or "worker-1" in place else 1)
    began = time.perf_counter()
    for k, (x, y) in enumerate(loader):
        begin = time.perf_counter()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        time.sleep(max(0.0, seconds - (time.perf_counter() - begin)))
        peer.step(loss)
        if arguments.kill and place.endswith("worker-1") and k == 10:
            os.kill(os.getpid(), signal.SIGKILL)
    summary = peer.finish()
    took = time.perf_counter() - began
    if peer.is_first:
        with torch.no_grad():
            accuracy = float((model(held_out).argmax(1) == answers).float().mean())
        print("RESULT " + json.dumps([took, accuracy, summary["gradients"]]), flush=True)


def measure(arguments, how, more):
    command = [sys.executable, __file__, arguments.dasgd, "--work", *more]
    for name in ("steps", "compute", "slow", "lr", "data"):
        command += [f"--{name}", str(getattr(arguments, name))]
    done = subprocess.run(how + command, capture_output=True, text=True)
    found = re.search(r"RESULT (\[.*\])", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(done.stderr[-3000:])
    return json.loads(found[1])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("dasgd")
    arguments.add_argument("--steps", type=int, default=600)
    arguments.add_argument("--compute", type=float, default=0.03)
    arguments.add_argument("--slow", type=float, default=4)
    arguments.add_argument("--lr", type=float, default=3e-3)
    arguments.add_argument("--seeds", type=int, default=2)
    arguments.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    arguments.add_argument("--work", action="store_true")
    arguments.add_argument("--kill", action="store_true")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--schedule", choices=SCHEDULES, help="one of them; default: all")
    arguments = arguments.parse_args()
    if arguments.work:
        return work(arguments)
    launch = [arguments.dasgd, "launch", "-n", "2", "--bare"]
    ways = {
        "alone": ([], []),
        "two ranks": ([*launch, "--"], []),
        "two members": ([*launch, "--elastic", "--"], []),
        "two members, one killed and replaced": ([*launch, "--elastic", "--"], ["--kill"]),
    }
    print(f"{'schedule':10}{'workers':40}{'seed':>5}{'seconds':>9}{'of ideal':>10}{'gradients':>11}{'accuracy':>10}")
    for schedule in [arguments.schedule] if arguments.schedule else SCHEDULES:
        for seed in range(1, arguments.seeds + 1):
            for name, (how, more) in ways.items():
                took, accuracy, gradients = measure(arguments, how, [*more, "--schedule", schedule, "--seed", str(seed)])
                ideal = arguments.steps * arguments.compute / (1 if name == "alone" else 1 + 1 / arguments.slow)
                print(f"{schedule:10}{name:40}{seed:5}{took:9.1f}{took / ideal:10.2f}{gradients:11}{accuracy:10.3f}", flush=True)


if __name__ == "__main__":
    main()
