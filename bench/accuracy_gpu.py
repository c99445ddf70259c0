#!/usr/bin/env python3
"""ResNet-18 in bf16 with augmentation on one GPU: what one and two workers reach after as many samples as a plain
PyTorch loop, and how long each takes.

    accuracy_gpu.py DASGD [--data /usr/share/datasets/fashion-mnist] [--epochs 12] [--workers 1,2] [--seeds 1]

PyTorch's loop replays a CUDA graph of the same step: images on the GPU, mirrored and moved there; momentum, weight
decay, a cosine schedule after an epoch of warming up: two workers that compute at the same time take twice the step
at once, which a network that has just begun does not bear. Seconds are those of training, in which libraries still choose their ways.
"""
import argparse
import gzip
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import torch
import torch.nn.functional as F
from torch import nn

from compare_gpu import ResNet18

BATCH, LR, MU, DECAY, CROP = 128, 0.05, 0.9, 5e-4, 4


def read_idx(path):
    with gzip.open(path) as file:
        data = file.read()
    axes = data[3]
    shape = numpy.frombuffer(data, ">u4", axes, 4)
    return numpy.frombuffer(data, numpy.uint8, offset=4 + 4 * axes).reshape(shape)


def part(folder, name):
    images = read_idx(folder / f"{name}-images-idx3-ubyte.gz")[:, None].astype(numpy.float32)
    return torch.from_numpy(images), torch.from_numpy(read_idx(folder / f"{name}-labels-idx1-ubyte.gz").astype(numpy.int64))


def torch_run(folder, epochs, seed):
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(seed)
    images, labels = part(folder, "train")
    mean, deviation = images.mean(), images.std()
    prepare = lambda x: ((x - mean) / deviation).cuda()
    data = F.pad(prepare(images), [CROP] * 4, value=float(-mean / deviation))
    labels = labels.cuda()
    side = images.shape[-1]
    net = ResNet18()
    net.first[0] = nn.Conv2d(1, 64, 3, 1, 1, bias=False)
    for layer in net.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(layer.weight)
    net = net.cuda().to(memory_format=torch.channels_last)
    weights = list(net.parameters())
    speeds = [torch.zeros_like(w) for w in weights]
    request = torch.zeros(BATCH, 4, dtype=torch.int64, device="cuda")  # row, mirrored, down, right
    lr = torch.zeros((), device="cuda")
    line = torch.arange(side, device="cuda")

    def step():
        row, mirrored, down, right = (request[:, k].reshape(-1, 1, 1) for k in range(4))
        column = torch.where(mirrored == 1, side - 1 - line, line)
        x = data[row, 0, down + line.reshape(1, -1, 1), right + column][:, None]
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            out = net(x.contiguous(memory_format=torch.channels_last))
        F.cross_entropy(out.float(), labels[request[:, 0]]).backward()
        with torch.no_grad():
            gradients = [w.grad for w in weights]
            torch._foreach_add_(gradients, weights, alpha=DECAY)
            torch._foreach_mul_(speeds, MU)
            torch._foreach_add_(speeds, gradients)
            torch._foreach_sub_(weights, torch._foreach_mul(speeds, lr))
        net.zero_grad(set_to_none=True)

    chance = numpy.random.default_rng(seed)
    total = epochs * (len(data) // BATCH)
    warmup = len(data) // BATCH
    begin = time.perf_counter()
    own = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(own):
        order = chance.permutation(len(data))
        for number in range(total):
            at = number % (len(data) // BATCH) * BATCH
            if at == 0:
                order = chance.permutation(len(data))
            draws = [order[at:at + BATCH], chance.integers(0, 2, BATCH), *chance.integers(0, 2 * CROP + 1, (2, BATCH))]
            request.copy_(torch.from_numpy(numpy.stack(draws, 1)).pin_memory(), non_blocking=True)
            lr.fill_(LR * min(1, (number + 1) / warmup) * (1 + math.cos(math.pi * number / total)) / 2)
            if number < 3:
                step()
                continue
            if number == 3:
                with torch.cuda.graph(graph, stream=own):
                    step()
            graph.replay()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    net.eval()
    images, truth = part(folder, "t10k")
    right = 0
    with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
        for x, y in zip(prepare(images).split(500), truth.cuda().split(500)):
            right += int((net(x.contiguous(memory_format=torch.channels_last)).argmax(1) == y).sum())
    return right / len(truth), seconds


def dasgd_run(dasgd, folder, epochs, workers, seed):
    with tempfile.TemporaryDirectory() as out:
        command = [dasgd, "train", "--model", "resnet18", "--data", folder, "--device", "cuda", "--workers", workers,
                   "--precision", "bf16", "--channels-last", "--augment", "flip,crop", "--batch", BATCH, "--epochs", epochs,
                   "--rule", "momentum", "--momentum", MU, "--lr", LR, "--weight-decay", DECAY, "--schedule", "cosine", "--warmup", len(part(folder, "train")[1]) // BATCH,
                   "--seed", seed, "--eval-every", "0s", "--checkpoint-every", "0s", "--quiet", "--no-report", "--out", f"{out}/run"]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"dasgd failed: {done.stderr.strip()}")
        summary = json.loads(pathlib.Path(out, "run/summary.json").read_text())
    if not summary["replicas_identical"] or summary["lost"] or summary["duplicated"]:
        sys.exit(f"the audit is not clean: {summary}")
    return summary["accuracy"], max(summary["time"]) * 1e-9


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dasgd")
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {options.epochs} epochs", flush=True)
    ways = [("PyTorch, CUDA graph", lambda seed: torch_run(options.data, options.epochs, seed))]
    for n in options.workers.split(","):
        ways.append((f"dasgd, {n} workers", lambda seed, n=n: dasgd_run(options.dasgd, options.data, options.epochs, n, seed)))
    for seed in range(1, options.seeds + 1):
        for name, run in ways:
            accuracy, seconds = run(seed)
            print(f"seed {seed}  {name:20} test accuracy {accuracy:.4f}  {seconds:6.1f} s", flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
