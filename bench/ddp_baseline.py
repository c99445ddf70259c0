#!/usr/bin/python3
"""PyTorch DistributedDataParallel over gloo: the paper's CNN, batch 32, plain SGD, one thread per rank.

  ddp_baseline.py --seconds 10 --slow 10     rank 1 takes 10 times as long per batch
Prints images per second of all ranks together. Ranks are started here, by hand: there is no torchrun in
Debian's python3-torch.
"""
import argparse
import os
import socket
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def network():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(),
        nn.Linear(1024, 64), nn.ReLU(), nn.Linear(64, 10))


def train(rank, ranks, port, seconds, slow, onednn, results):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=ranks)
    with torch.backends.mkldnn.flags(enabled=onednn):
        torch.manual_seed(1)
        model = nn.parallel.DistributedDataParallel(network())
        optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
        images, labels = torch.randn(1024, 3, 32, 32), torch.randint(10, (1024,))
        loss_of = nn.CrossEntropyLoss()

        def compute(k):
            rows = slice(k % 32 * 32, k % 32 * 32 + 32)
            loss_of(model(images[rows]), labels[rows]).backward()

        def step(k):
            optimiser.zero_grad(set_to_none=True)
            if rank == ranks - 1:
                time.sleep((slow - 1) * alone)
            compute(k)
            optimiser.step()

        with model.no_sync():  # what a batch takes without waiting for anybody
            times = []
            for k in range(7):
                start = time.perf_counter()
                compute(k)
                times.append(time.perf_counter() - start)
            alone = sorted(times)[3]
        for k in range(2):
            step(k)
        dist.barrier()
        start, done = time.perf_counter(), 0
        going = torch.ones(1)
        while going.item() > 0:  # ranks agree every few batches, so that none waits for one that has left
            for _ in range(max(1, round(10 / slow))):
                step(done)
                done += 1
            going.fill_(1 if time.perf_counter() - start < seconds else 0)
            dist.all_reduce(going, op=dist.ReduceOp.MIN)
        results[rank] = done * 32 / (time.perf_counter() - start)
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("--onednn", action="store_true", help="convolutions by oneDNN instead of BLAS")
    a = parser.parse_args()
    results = mp.Manager().dict()
    mp.spawn(train, (a.ranks, free_port(), a.seconds, a.slow, a.onednn, results), nprocs=a.ranks)
    print(f"{sum(results.values()):.1f}")


if __name__ == "__main__":
    main()
