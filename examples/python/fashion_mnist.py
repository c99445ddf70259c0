"""Fashion-MNIST with PyTorch, by as many workers as there are processes:

    python3 fashion_mnist.py                               one worker, plain SGD
    dasgd launch -n 2 -- python3 fashion_mnist.py          two
    dasgd launch -n 2 -- python3 fashion_mnist.py --slow 10    two, all but the first ten times slower
    dasgd launch -n 2 --elastic -- python3 fashion_mnist.py    two, of whom one may die and others may come
"""
import argparse
import gzip
import time

import numpy
import torch
import dasgd.torch

arguments = argparse.ArgumentParser()
arguments.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
arguments.add_argument("--steps", type=int, default=1000)
arguments.add_argument("--slow", type=float, default=1)
arguments = arguments.parse_args()


def read(name, skip):
    with gzip.open(f"{arguments.data}/{name}-ubyte.gz") as file:
        return torch.from_numpy(numpy.frombuffer(file.read(), numpy.uint8, offset=skip).copy())


images, labels = read("train-images-idx3", 16).view(-1, 784).float() / 255, read("train-labels-idx1", 8).long()
test_images, test_labels = read("t10k-images-idx3", 16).view(-1, 784).float() / 255, read("t10k-labels-idx1", 8).long()

torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
peer = dasgd.torch.Peer(model, lr=0.1, batch=64, total_gradients=arguments.steps)
slow = 1 if peer.is_first else arguments.slow
draws = torch.Generator().manual_seed(peer.seed)
while peer.goes_on:
    begin = time.perf_counter()
    rows = torch.randint(len(images), (64,), generator=draws)
    loss = torch.nn.functional.cross_entropy(model(images[rows]), labels[rows])
    loss.backward()
    time.sleep((slow - 1) * (time.perf_counter() - begin))
    peer.step(loss)
summary = peer.finish()
if peer.is_first:
    accuracy = (model(test_images).argmax(1) == test_labels).float().mean()
    print(f"{summary['gradients']} gradients of {summary.get('members', summary['workers'])} workers, {summary['lost']} lost, "
          f"replicas identical: {summary['replicas_identical']}, S_avg {summary['S_avg']:.2f}, accuracy {accuracy:.3f}")
