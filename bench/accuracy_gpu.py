#!/usr/bin/env python3
"""ResNet-18 in bf16 with augmentation on one GPU: what one and two workers reach after as many samples as a plain
PyTorch loop, and how long each takes, also to a goal on the way.

    accuracy_gpu.py DASGD [--data ~/.cache/dasgd/cifar10] [--epochs 24] [--workers 1,2,2:0.8:0.1] [--seeds 1] [--goal 0.93]

2:0.8:0.1 are two workers with a momentum of 0.8 and a step of 0.1 instead of 0.9 and 0.05. DATA is a folder of
CIFAR-10's binary files or of Fashion-MNIST's. PyTorch's loop replays a CUDA graph of the same step: images on the GPU,
mirrored and moved there; momentum, weight decay, a cosine schedule after an epoch of warming up: two workers that
compute at the same time take twice the step at once, which a network that has just begun does not bear. Both are
evaluated about once an epoch. Seconds are those of training with these evaluations, in which libraries still choose
their ways.
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


def part(folder, train):
    """Images (n, channels, side, side) as floats, and labels."""
    if (folder / "test_batch.bin").exists():
        names = [f"data_batch_{k}.bin" for k in range(1, 6)] if train else ["test_batch.bin"]
        rows = numpy.concatenate([numpy.fromfile(folder / name, numpy.uint8).reshape(-1, 3073) for name in names])
        images, labels = rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0]
    else:
        name = "train" if train else "t10k"
        images = read_idx(folder / f"{name}-images-idx3-ubyte.gz")[:, None]
        labels = read_idx(folder / f"{name}-labels-idx1-ubyte.gz")
    return torch.from_numpy(images.astype(numpy.float32)), torch.from_numpy(labels.astype(numpy.int64))


def torch_run(folder, epochs, seed, goal):
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(seed)
    images, labels = part(folder, True)
    mean, deviation = (f(images, (0, 2, 3), keepdim=True) for f in (torch.mean, torch.std))
    prepare = lambda x: ((x - mean) / deviation).cuda()
    data = prepare(F.pad(images, [CROP] * 4))
    labels = labels.cuda()
    test_images, test_labels = part(folder, False)
    tests = [(x.contiguous(memory_format=torch.channels_last), y)
             for x, y in zip(prepare(test_images).split(500), test_labels.cuda().split(500))]
    side, channels = images.shape[-1], images.shape[1]
    net = ResNet18()
    net.first[0] = nn.Conv2d(channels, 64, 3, 1, 1, bias=False)
    for layer in net.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(layer.weight)
    net = net.cuda().to(memory_format=torch.channels_last)
    weights = list(net.parameters())
    speeds = [torch.zeros_like(w) for w in weights]
    request = torch.zeros(BATCH, 4, dtype=torch.int64, device="cuda")  # row, mirrored, down, right
    lr = torch.zeros((), device="cuda")
    line = torch.arange(side, device="cuda")
    channel = torch.arange(channels, device="cuda").reshape(1, -1, 1, 1)

    def step():
        row, mirrored, down, right = (request[:, k].reshape(-1, 1, 1, 1) for k in range(4))
        column = torch.where(mirrored == 1, side - 1 - line, line)
        x = data[row, channel, down + line.reshape(1, 1, -1, 1), right + column]
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

    def accuracy():
        net.eval()
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16):
            right = sum((net(x).argmax(1) == y).sum() for x, y in tests).item()
        net.train()
        return right / sum(len(y) for _, y in tests)

    chance = numpy.random.default_rng(seed)
    per_epoch = len(data) // BATCH
    total = epochs * per_epoch
    reached = None
    begin = time.perf_counter()
    own = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(own):
        order = chance.permutation(len(data))
        for number in range(total):
            at = number % per_epoch * BATCH
            if at == 0 and number > 0:
                order = chance.permutation(len(data))
                if goal and reached is None and accuracy() >= goal:
                    reached = time.perf_counter() - begin
            draws = [order[at:at + BATCH], chance.integers(0, 2, BATCH), *chance.integers(0, 2 * CROP + 1, (2, BATCH))]
            request.copy_(torch.from_numpy(numpy.stack(draws, 1)).pin_memory(), non_blocking=True)
            lr.fill_(LR * min(1, (number + 1) / per_epoch) * (1 + math.cos(math.pi * number / total)) / 2)
            if number < 3:
                step()
                continue
            if number == 3:
                with torch.cuda.graph(graph, stream=own):
                    step()
            graph.replay()
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begin
    final = accuracy()
    return final, seconds, reached or (seconds if goal and final >= goal else None)


def dasgd_run(dasgd, folder, epochs, way, seed, goal, every):
    workers, momentum, lr = way.split(":") if ":" in way else (way, MU, LR)
    images = len(part(folder, True)[1])
    with tempfile.TemporaryDirectory() as out:
        command = [dasgd, "train", "--model", "resnet18", "--data", folder, "--device", "cuda", "--workers", workers,
                   "--precision", "bf16", "--channels-last", "--augment", "flip,crop", "--batch", BATCH, "--epochs", epochs,
                   "--rule", "momentum", "--momentum", momentum, "--lr", lr, "--weight-decay", DECAY, "--schedule", "cosine",
                   "--warmup", images // BATCH, "--seed", seed, "--eval-every", f"{every:.1f}s" if goal else "0s",
                   "--checkpoint-every", "0s", "--quiet", "--no-report", "--out", f"{out}/run"]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"dasgd failed: {done.stderr.strip()}")
        summary = json.loads(pathlib.Path(out, "run/summary.json").read_text())
        lines = [json.loads(line) for line in pathlib.Path(out, "run/metrics.jsonl").read_text().splitlines()]
    if not summary["replicas_identical"] or summary["lost"] or summary["duplicated"]:
        sys.exit(f"the audit is not clean: {summary}")
    reached = next((line["seconds"] for line in lines if goal and line.get("accuracy", 0) >= goal), None)
    return summary["accuracy"], max(summary["time"]) * 1e-9, reached


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dasgd")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path.home() / ".cache/dasgd/cifar10")
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--workers", default="1,2,2:0.8:0.1")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--goal", type=float, default=0.93)
    options = parser.parse_args()
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {options.epochs} epochs", flush=True)
    for seed in range(options.seed, options.seed + options.seeds):
        every = 1.5
        for way in ["PyTorch", *options.workers.split(",")]:
            if way == "PyTorch":
                name, found = "PyTorch, CUDA graph", torch_run(options.data, options.epochs, seed, options.goal)
                every = max(0.5, found[1] / options.epochs)  # seconds of an epoch
            else:
                name = f"dasgd, {way} worker{'s' * (way != '1')}"
                found = dasgd_run(options.dasgd, options.data, options.epochs, way, seed, options.goal, every)
            accuracy, seconds, reached = found
            goal = f"  {options.goal} after {reached:.1f} s" if reached else f"  {options.goal} not seen"
            print(f"seed {seed}  {name:27} test accuracy {accuracy:.4f}  {seconds:6.1f} s{goal if options.goal else ''}", flush=True)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
