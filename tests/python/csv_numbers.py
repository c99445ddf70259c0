"""Prints how far the answers of `dasgd predict` are at most from those of a TorchScript file on the raw rows of a
CSV file whose last column is the target: csv_numbers.py MODEL.pt FILE.csv ANSWERS.csv"""
import csv
import sys

import torch


def rows_of(path):
    with open(path, newline="") as file:
        return [[float(value) for value in row] for row in list(csv.reader(file))[1:]]


network = torch.jit.load(sys.argv[1])
inputs = torch.tensor([row[:-1] for row in rows_of(sys.argv[2])], dtype=torch.float64)
answers = torch.tensor([row[1] for row in rows_of(sys.argv[3])])
with torch.no_grad():
    print((network(inputs).reshape(-1) - answers).abs().max().item())
