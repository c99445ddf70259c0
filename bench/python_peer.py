#!/usr/bin/python3
"""dasgd.torch.Peer: the paper's CNN in a loop of PyTorch, batch 32, plain SGD, one thread per process.

  PYTHONPATH=build/release/python python_peer.py build/release/dasgd [--seconds 4] [--rounds 3]
Images per second, in turns, medians: the loop without a peer, with one that is alone, two processes, two with one slower,
and PyTorch DDP + gloo. What a step of a peer costs is given in processor time, which other programs do not change.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = os.path.dirname(os.path.abspath(__file__))
BATCH = 32


def worker(kind, seconds, slow, onednn):
    """Prints the images per second of this process, and its processor time per batch in seconds: in steps, and in all."""
    import torch
    from ddp_baseline import network

    torch.set_num_threads(1)
    torch.manual_seed(1)
    model = network()
    images, labels = torch.randn(1024, 3, 32, 32), torch.randint(10, (1024,))
    last = False
    if kind == "plain":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

        def step():
            optimizer.step()
            optimizer.zero_grad()
    else:
        import dasgd.torch

        peer = dasgd.torch.Peer(model, lr=0.01, batch=BATCH)
        last = peer.rank == peer.size - 1 and peer.size > 1
        step = peer.step

    def compute(k):
        rows = slice(k % 32 * BATCH, (k % 32 + 1) * BATCH)
        torch.nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()

    with torch.backends.mkldnn.flags(enabled=onednn):
        for k in range(3):
            compute(k)
            step()
        begin, done, in_steps, first = time.perf_counter(), 0, 0.0, time.process_time()
        while time.perf_counter() - begin < seconds:
            before = time.perf_counter()
            compute(done)
            if last and slow > 1:
                time.sleep((slow - 1) * (time.perf_counter() - before))
            before_step = time.process_time()
            step()
            in_steps += time.process_time() - before_step
            done += 1
        in_all = time.process_time() - first
        rate = done * BATCH / (time.perf_counter() - begin)
    if kind == "peer":
        peer.finish()
    print(f"rate {rate} {in_steps / done} {in_all / done}", flush=True)


def measure(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=120)  # errors are on its stderr
    if done.returncode != 0:
        raise SystemExit(f"status {done.returncode}: {' '.join(command)}")
    # mpirun may join the lines of two ranks.
    return [[float(number) for number in line.split()] for line in done.stdout.split("rate ")[1:]]


def rates(command):
    return sum(rate for rate, *_ in measure(command))


def table(rows, costs):
    """`costs`: processor time of a step and of all, without a peer and with one that is alone."""
    def median(of):
        return statistics.median(of(*row) for row in rows)

    print(f"Medians of {len(rows)}")
    print(f"without a peer           {median(lambda p, *_: p):8.0f}")
    print(f"a peer alone             {median(lambda p, a, *_: a):8.0f}   its step takes "
          f"{100 * statistics.median((q - p) / all for (p, all), (q, _) in costs):+.2f} % of the processor time of a batch")
    print(f"two processes            {median(lambda p, a, e, *_: e):8.0f}   {median(lambda p, a, e, *_: e / a):.2f}x of one")
    print(f"one of them 10x slower   {median(lambda p, a, e, s, t, *_: t):8.0f}   "
          f"{median(lambda p, a, e, s, t, *_: t / (1.1 * e / 2)):.2f} of the sum of their speeds")
    print(f"DDP + gloo               {median(lambda *r: r[5]):8.0f}   dasgd {median(lambda *r: r[2] / r[5]):.2f}x")
    print(f"DDP, one 2x slower       {median(lambda *r: r[6]):8.0f}   dasgd {median(lambda *r: r[3] / r[6]):.2f}x", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", choices=["plain", "peer"], help=argparse.SUPPRESS)
    parser.add_argument("--slow", type=float, default=1, help=argparse.SUPPRESS)
    parser.add_argument("--onednn", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.worker:
        return worker(a.worker, a.seconds, a.slow, a.onednn)

    from compare_ddp import ddp
    from noise import Noise

    noise = Noise()

    def loop(kind, onednn, slow=1):
        return [sys.executable, os.path.abspath(__file__), "--worker", kind, "--seconds", str(a.seconds), "--slow",
                str(slow)] + (["--onednn"] if onednn else [])

    def two(onednn, slow=1):
        return [a.binary, "launch", "-n", "2", "--bare", "--", *loop("peer", onednn, slow)]

    onednn = rates(loop("plain", True)) > rates(loop("plain", False))
    print(f"Python loops, oneDNN {'on' if onednn else 'off'}; images per second", flush=True)
    ways = {"two": lambda: rates(two(onednn)), "2x slower": lambda: rates(two(onednn, 2)),
            "10x slower": lambda: rates(two(onednn, 10)), "DDP": lambda: ddp(a.seconds, 1, onednn),
            "DDP 2x slower": lambda: ddp(a.seconds, 2, onednn)}
    rows, costs = [], []
    for _ in range(a.rounds):
        (plain, *cost), = measure(loop("plain", onednn))
        (alone, *cost_of_peer), = measure(loop("peer", onednn))
        row = [plain, alone]
        print(f"  without a peer {plain:.0f}  alone {alone:.0f}", end="", flush=True)
        for what, measure in ways.items():
            row.append(measure())
            print(f"  {what} {row[-1]:.0f}", end="", flush=True)
        rows.append(row)
        costs.append((cost, cost_of_peer))
        print()
        table(rows, costs)
    noise.report()


if __name__ == "__main__":
    sys.exit(main())
