"""Prints the accuracy of a TorchScript file on raw arrays: npy_accuracy.py MODEL.pt X.npy Y.npy"""
import sys

import numpy
import torch

network = torch.jit.load(sys.argv[1])
with torch.no_grad():
    guesses = network(torch.from_numpy(numpy.load(sys.argv[2]))).argmax(1).numpy()
print((guesses == numpy.load(sys.argv[3])).mean())
