"""Prints the accuracy of a TorchScript file on the raw rows of a CSV file: csv_accuracy.py MODEL.pt FILE.csv"""
import csv
import sys

import torch

network = torch.jit.load(sys.argv[1])
assert not network.training
with open(sys.argv[2], newline="") as file:
    rows = list(csv.reader(file))[1:]
inputs = torch.tensor([[float(value) for value in row[:-1]] for row in rows], dtype=torch.float64)
with torch.no_grad():
    guesses = network(inputs).argmax(1)
right = sum(network.classes[guess] == row[-1] for guess, row in zip(guesses.tolist(), rows))
print(right / len(rows))
