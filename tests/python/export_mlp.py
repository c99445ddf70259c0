"""Writes a small network for Fashion-MNIST as TorchScript: export_mlp.py OUT.pt"""
import sys

import torch
from torch import nn

torch.manual_seed(4)
network = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.BatchNorm1d(64), nn.Tanh(), nn.Linear(64, 10))
torch.jit.script(network).save(sys.argv[1])
