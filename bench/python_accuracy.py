#!/usr/bin/python3
"""Accuracy of loops with dasgd.torch.Peer against plain PyTorch after as many samples: a CNN on Fashion-MNIST.

  PYTHONPATH=build/release/python python_accuracy.py build/release/dasgd [--epochs 2] [--processes 2] [--seeds 3] [--jobs 1]
For SGD with momentum and for AdamW, step sizes that fall to zero: one process without a peer, and several with one each
that together take as many samples, the last of them 1 and 10 times slower.
"""
import argparse
import concurrent.futures
import gzip
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
DATA = "/usr/share/datasets/fashion-mnist"
BATCH, IMAGES = 32, 60_000


def read(name, skip):
    import torch

    with gzip.open(f"{DATA}/{name}-ubyte.gz") as file:
        return torch.frombuffer(bytearray(file.read()[skip:]), dtype=torch.uint8)


def network():
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1600, 64), nn.ReLU(), nn.Linear(64, 10))


def worker(a):
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    images, labels = read("train-images-idx3", 16).view(-1, 1, 28, 28).float() / 255, read("train-labels-idx1", 8).long()
    model = network()
    kinds = {"sgd": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9), "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3)}
    optimizer = kinds[a.optimizer](model.parameters())
    steps, rank, peer = int(a.epochs * IMAGES / BATCH), 0, None
    if a.worker == "peer":
        import dasgd.torch

        peer = dasgd.torch.Peer(model, optimizer=optimizer, batch=BATCH, total_gradients=steps)
        rank = peer.rank
    # Whoever is slower takes fewer steps of the same number: the step size falls with those of all.
    last = peer is not None and rank == peer.size - 1
    own = steps if peer is None else steps / (peer.size - 1 + 1 / a.slow) / (a.slow if last else 1)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: max(0.0, 1 - k / own))
    draws = torch.Generator().manual_seed(1000 * a.seed + rank)
    for _ in range(steps):
        begin = time.perf_counter()
        rows = torch.randint(IMAGES, (BATCH,), generator=draws)
        torch.nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()
        if last and a.slow > 1:
            time.sleep((a.slow - 1) * (time.perf_counter() - begin))
        if (peer or optimizer).step() is False:
            break
        optimizer.zero_grad()
        schedule.step()
    if peer is not None:
        peer.finish()
    if rank == 0:
        images, labels = read("t10k-images-idx3", 16).view(-1, 1, 28, 28).float() / 255, read("t10k-labels-idx1", 8).long()
        with torch.no_grad():
            right = sum(int((model(x).argmax(1) == y).sum()) for x, y in zip(images.split(500), labels.split(500)))
        print(f"accuracy {right / len(labels)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--epochs", type=float, default=2)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="how many trainings at the same time")
    parser.add_argument("--worker", choices=["plain", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("--optimizer", choices=["sgd", "adamw"], help=argparse.SUPPRESS)
    parser.add_argument("--slow", type=float, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.worker:
        return worker(a)

    def train(case):
        optimizer, slow, seed = case
        loop = [sys.executable, os.path.abspath(__file__), "--worker", "plain" if slow is None else "peer", "--epochs",
                str(a.epochs), "--optimizer", optimizer, "--slow", str(slow or 1), "--seed", str(seed)]
        command = loop if slow is None else [a.binary, "launch", "-n", str(a.processes), "--bare", "--", *loop]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return case, float(output.split("accuracy ")[1])

    ways = {None: "one process without a peer", 1: f"{a.processes} peers", 10: f"{a.processes} peers, one 10x slower"}
    cases = [(o, slow, seed) for seed in range(1, a.seeds + 1) for o in ("sgd", "adamw") for slow in ways]
    found = {}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(train, case) for case in cases]):
            case, right = done.result()
            found[case] = right
            print(f"  {case[0]:<6} {ways[case[1]]:<28} seed {case[2]}  {100 * right:6.2f} %", flush=True)
    print(f"Accuracy after {a.epochs * IMAGES:.0f} samples, mean and range of {a.seeds} seeds")
    for optimizer in ("sgd", "adamw"):
        for slow, what in ways.items():
            values = [100 * found[optimizer, slow, seed] for seed in range(1, a.seeds + 1)]
            against = statistics.mean(values) - 100 * statistics.mean(found[optimizer, None, s] for s in range(1, a.seeds + 1))
            print(f"{optimizer:<6} {what:<28} {statistics.mean(values):6.2f} %  ({min(values):.2f} to {max(values):.2f})  {against:+.2f}")


if __name__ == "__main__":
    sys.exit(main())
