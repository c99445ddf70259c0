#!/usr/bin/python3
"""One rank of PyTorch DDP over gloo that trains the paper's CNN on Fashion-MNIST until rank 0 finds the accuracy --goal; for
thin_links.py and time_to_accuracy.py. Rank 0 prints a line of JSON.

--pace: seconds that a gradient takes at least. --slow: the last rank takes so many times as long for each.
"""
import argparse
import gzip
import json
import pathlib
import statistics
import time

DATA = pathlib.Path("/usr/share/datasets/fashion-mnist")
BATCH = 32


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--rule", choices=["sgd", "nesterov", "adam"], default="sgd")
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("--pace", type=float, default=0)
    parser.add_argument("--goal", type=float, required=True)
    parser.add_argument("--eval-every", type=float, default=5)
    parser.add_argument("--limit", type=float, required=True)
    a = parser.parse_args()

    import torch
    import torch.distributed as dist
    from torch import nn

    def read(name, skip):
        return torch.frombuffer(bytearray(gzip.open(DATA / name).read()[skip:]), dtype=torch.uint8)

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://{a.address}", rank=a.rank, world_size=a.ranks)
    images = read("train-images-idx3-ubyte.gz", 16).view(-1, 1, 28, 28).float() / 255
    labels = read("train-labels-idx1-ubyte.gz", 8).long()
    tests, answers = read("t10k-images-idx3-ubyte.gz", 16).view(-1, 1, 28, 28).float() / 255, read("t10k-labels-idx1-ubyte.gz", 8).long()
    torch.manual_seed(1)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 64, 3), nn.ReLU(), nn.Flatten(), nn.Linear(576, 64), nn.ReLU(), nn.Linear(64, 10)))
    optimiser = (torch.optim.Adam(model.parameters(), lr=a.lr) if a.rule == "adam" else
                 torch.optim.SGD(model.parameters(), lr=a.lr, momentum=0.9 if a.rule == "nesterov" else 0, nesterov=a.rule == "nesterov"))
    torch.manual_seed(a.rank)
    times = []
    for _ in range(5):  # what a gradient takes without waiting for anybody
        start = time.monotonic()
        nn.functional.cross_entropy(model.module(images[:BATCH]), labels[:BATCH]).backward()
        times.append(time.monotonic() - start)
    alone = statistics.median(times)
    pause = max(a.pace, alone) * (a.slow if a.rank == a.ranks - 1 else 1) - alone
    dist.barrier()
    began = looked = time.monotonic()
    steps, accuracy = 0, 0.0
    while True:
        rows = torch.randint(len(labels), (BATCH,))
        optimiser.zero_grad()
        time.sleep(pause)
        nn.functional.cross_entropy(model(images[rows]), labels[rows]).backward()
        optimiser.step()
        steps += 1
        if a.rank == 0 and time.monotonic() - looked > a.eval_every:
            looked = time.monotonic()
            with torch.no_grad():
                accuracy = (model.module(tests[:1000]).argmax(1) == answers[:1000]).float().mean().item()
            began += time.monotonic() - looked  # dasgd evaluates on a thread of its own: this is free
            looked = time.monotonic()
        if steps % 5 == 0:
            over = torch.tensor([float(accuracy >= a.goal or time.monotonic() - began > a.limit)])
            dist.broadcast(over, 0)
            if over.item():
                break
    seconds = time.monotonic() - began
    if a.rank == 0:
        print(json.dumps({"seconds": seconds, "reached": accuracy >= a.goal, "accuracy": accuracy, "per_second": steps * a.ranks / seconds, "S_avg": 0.0}))


if __name__ == "__main__":
    main()
