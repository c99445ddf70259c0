"""Prints the accuracy of a TorchScript file on the raw test images of Fashion-MNIST: accuracy.py MODEL.pt DIRECTORY"""
import gzip
import os
import sys

import torch


def idx(name, header):
    with gzip.open(os.path.join(sys.argv[2], name + ".gz")) as file:
        return torch.frombuffer(bytearray(file.read()[header:]), dtype=torch.uint8)


images = idx("t10k-images-idx3-ubyte", 16).reshape(-1, 1, 28, 28)
labels = idx("t10k-labels-idx1-ubyte", 8).long()
network = torch.jit.load(sys.argv[1])
assert not network.training
with torch.no_grad():
    guesses = network(images).argmax(1)
print((guesses == labels).double().mean().item())
