#!/usr/bin/env python3
"""Networks on one GPU: plain PyTorch loops and dasgd in turns.

    compare_gpu.py DASGD [--cases cnn-32,resnet-bf16] [--workers 1,2,4,8,4/10] [--repeats 3] [--seconds 3]

Both see random images of 3 x 32 x 32 (or random text) that lie on the GPU, draw every batch anew and take plain
SGD steps. A rate of dasgd is that of the last seconds of a run, when its libraries have settled (metrics.jsonl). 4/10
workers are four of which one is made 10 times slower. Prints medians of the repeats, and each as a share of PyTorch's
loop that it is held against; the other loop runs once.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch
import torch.nn.functional as F
from torch import nn

# name: (model, batch, precision, the loop that it is held against, whether samples or steps are counted)
CASES = {
    "cnn-32": ("cnn", 32, "fp32", "graph", "steps"),
    "cnn-128": ("cnn", 128, "fp32", "graph", "steps"),
    "resnet-fp32": ("resnet18", 128, "fp32", "eager", "samples"),
    "resnet-bf16": ("resnet18", 128, "bf16", "graph", "samples"),
    "gpt-bf16": ("gpt", 8, "bf16", "eager", "samples"),
}
CONTEXT = 1024


def beginning(model, precision):
    """Seconds of a run that are not counted: cuDNN tries its ways, longest for a ResNet in bf16, and once more for the
    shorter batch at the end of the first epoch."""
    return {"cnn": 2, "resnet18": 14 if precision == "bf16" else 10, "gpt": 3}[model]


class Cnn(nn.Sequential):
    def __init__(self):
        conv = lambda i, o: nn.Conv2d(i, o, 3)
        super().__init__(conv(3, 32), nn.ReLU(), nn.MaxPool2d(2), conv(32, 64), nn.ReLU(), nn.MaxPool2d(2),
                         conv(64, 64), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 10))


class Block(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        s = 1 if i == o else 2
        self.c1, self.b1 = nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o)
        self.c2, self.b2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.around = nn.Identity() if s == 1 else nn.Sequential(nn.Conv2d(i, o, 1, s, bias=False), nn.BatchNorm2d(o))

    def forward(self, x):
        return F.relu(self.b2(self.c2(F.relu(self.b1(self.c1(x))))) + self.around(x))


class ResNet18(nn.Module):
    def __init__(self):
        super().__init__()
        widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
        self.first = nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        self.blocks = nn.Sequential(*[Block(i, o) for i, o in zip(widths, widths[1:])])
        self.last = nn.Linear(512, 10)

    def forward(self, x):
        return self.last(self.blocks(self.first(x)).mean([2, 3]))


class GptBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = self.attend(self.n1(x)).reshape(n, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, t, w)
        x = x + self.project(y)
        return x + self.narrow(F.gelu(self.widen(self.n2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, width=768, depth=12, heads=12, tokens=50257):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(tokens, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*[GptBlock(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, 0, 0.02)

    def forward(self, x):
        h = self.tokens(x) + self.positions.weight
        return F.linear(self.norm(self.blocks(h)), self.tokens.weight)


NETWORKS = {"cnn": Cnn, "resnet18": ResNet18, "gpt": Gpt}


def torch_loop(model, batch, precision, graph):
    """A plain loop that is warm: steps per second for so many seconds."""
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
    low = precision == "bf16"
    net = NETWORKS[model]().cuda()
    if low and model == "resnet18":
        net = net.to(memory_format=torch.channels_last)
    if model == "gpt":
        data = torch.randint(0, 64, (2000, CONTEXT), device="cuda")
        labels = torch.randint(0, 64, (2000, CONTEXT), device="cuda")
    else:
        data = torch.randn(50000, 3, 32, 32, device="cuda")
        labels = torch.randint(0, 10, (50000,), device="cuda")
    rows = torch.zeros(batch, dtype=torch.int64, device="cuda")
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-4)

    def step():
        optimiser.zero_grad(set_to_none=True)
        x, y = data.index_select(0, rows), labels.index_select(0, rows)
        if low and model == "resnet18":
            x = x.contiguous(memory_format=torch.channels_last)
        with torch.autocast("cuda", torch.bfloat16, enabled=low, cache_enabled=False):
            out = net(x)
        loss = F.cross_entropy(out.reshape(-1, out.shape[-1]).float(), y.reshape(-1))
        loss.backward()
        optimiser.step()

    chance = numpy.random.default_rng(1)

    def feed():
        host = torch.from_numpy(chance.integers(0, len(data), batch)).pin_memory()
        rows.copy_(host, non_blocking=True)

    run = step
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
        if graph:
            captured = torch.cuda.CUDAGraph()
            with torch.cuda.graph(captured, stream=side):
                step()
            run = captured.replay

    def rate(seconds):
        with torch.cuda.stream(side):
            for _ in range(5):
                feed()
                run()
            side.synchronize()
            begin, steps = time.perf_counter(), 0
            while time.perf_counter() - begin < seconds:
                for _ in range(10):
                    feed()
                    run()
                side.synchronize()
                steps += 10
            return steps / (time.perf_counter() - begin)

    return rate


def write_data(folder):
    chance = numpy.random.default_rng(1)
    for name in [f"data_batch_{k}.bin" for k in range(1, 6)] + ["test_batch.bin"]:
        rows = chance.integers(0, 256, (10000, 3073), dtype=numpy.uint8)
        rows[:, 0] %= 10
        (folder / name).write_bytes(rows.tobytes())
    letters = numpy.frombuffer(bytes(range(32, 96)), dtype=numpy.uint8)
    (folder / "text.txt").write_bytes(letters[chance.integers(0, 64, 600_000)].tobytes())


def dasgd_rate(dasgd, model, batch, precision, workers, seconds, folder):
    """Gradients per second of all workers."""
    with tempfile.TemporaryDirectory() as out:
        return rate_of_run(dasgd, model, batch, precision, workers, seconds, folder, pathlib.Path(out, "run"))


def rate_of_run(dasgd, model, batch, precision, workers, seconds, folder, out):
    data = folder / "text.txt" if model == "gpt" else folder
    workers, _, slower = workers.partition("/")
    command = [dasgd, "train", "--model", model, "--data", data, "--device", "cuda", "--batch", batch, "--precision",
               precision, "--workers", workers, "--lr", "1e-4", "--max-time", f"{seconds + beginning(model, precision)}s", "--epochs", 1000000,
               "--eval-every", "0s", "--checkpoint-every", "0s", "--quiet", "--no-report", "--out", out]
    command += ["--slow", f"{int(workers) - 1}:{slower}"] if slower else []
    command += ["--channels-last"] if precision == "bf16" and model == "resnet18" else []
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"dasgd failed: {done.stderr.strip()}")
    summary = json.loads((out / "summary.json").read_text())
    if not summary["replicas_identical"] or summary["lost"] or summary["duplicated"]:
        sys.exit(f"the audit is not clean: {summary}")
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()][:-1]
    seen = [line for line in lines if line["seconds"] >= lines[-1]["seconds"] - seconds]
    return (seen[-1]["gradients"] - seen[0]["gradients"]) / (seen[-1]["seconds"] - seen[0]["seconds"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dasgd")
    parser.add_argument("--cases", default=",".join(CASES))
    parser.add_argument("--workers", default="1,2,4,8")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_data(folder)
        for case in options.cases.split(","):
            model, batch, precision, rival, unit = CASES[case]
            times = batch if unit == "samples" else 1
            found = {}

            def add(name, run):
                begin = time.perf_counter()
                rate = run() * times
                found.setdefault(name, []).append(rate)
                print(f"{case} {name}: {rate:,.0f}  ({time.perf_counter() - begin:.1f} s)", file=sys.stderr, flush=True)

            loops = {loop: None for loop in ("eager", "graph")}
            for turn in range(options.repeats):
                for loop in loops:
                    if turn == 0:
                        loops[loop] = torch_loop(model, batch, precision, loop == "graph")
                    if turn == 0 or loop == rival:
                        add(f"PyTorch {loop}", lambda: loops[loop](options.seconds))
                for workers in options.workers.split(","):
                    add(f"dasgd {workers}",
                        lambda: dasgd_rate(options.dasgd, model, batch, precision, workers, options.seconds, folder))
            del loops
            torch.cuda.empty_cache()
            base = statistics.median(found[f"PyTorch {rival}"])
            for name, rates in found.items():
                middle = statistics.median(rates)
                spread = f"{min(rates):,.0f} to {max(rates):,.0f}"
                print(f"{case:12} {name:14} {middle:10,.0f} {unit}/s  ({spread})  {middle / base:5.2f} of {rival}", flush=True)


if __name__ == "__main__":
    main()
