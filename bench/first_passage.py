#!/usr/bin/python3
"""How much of Figure 2 (c) the stopping rule explains: gradients until all workers have seen a loss of 1, without any staleness.

    bench/first_passage.py [--runs 6]

A model of the loss alone: it falls by `slope` per gradient and passes 1 at gradient 300,000; each mini-batch adds independent noise.
A worker is done when the mean of its last 30 mini-batches is at most 1, and the run is over when all workers are.
"""
import argparse

import numpy


def gradients(workers, noise, slope, draw, begin=100_000, end=500_000, window=30):
    done = []
    for worker in range(workers):
        at = numpy.arange(begin + worker, end, workers)
        loss = 1 + slope * (300_000 - at) + noise * draw.standard_normal(len(at))
        sums = numpy.concatenate([[0], numpy.cumsum(loss)])
        means = (sums[window:] - sums[:-window]) / window
        done.append(at[numpy.argmax(means <= 1) + window - 1])
    return max(done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=6)
    runs = parser.parse_args().runs
    draw = numpy.random.default_rng(1)
    print("noise  slope    growth over one worker with n = 2, 5, 10, 25")
    for noise in (0.12, 0.18, 0.25):
        for slope in (1.2e-6, 2e-6):
            mean = {n: numpy.mean([gradients(n, noise, slope, draw) for _ in range(runs)]) for n in (1, 2, 5, 10, 25)}
            print(f"{noise:.2f}   {slope:.1e} " + " ".join(f"{mean[n] / mean[1]:.3f}" for n in (2, 5, 10, 25)))


if __name__ == "__main__":
    main()
