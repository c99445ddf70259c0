#!/usr/bin/python3
"""dasgd against PyTorch DDP + gloo on this machine: same network, batch, BLAS and number of workers.

  compare_ddp.py build/release/dasgd [--seconds 10] [--rounds 3]
Prints images per second of both, in turns, and the median ratio: all equal, and the last worker 2 and 10
times slower.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

from noise import Noise

HERE = os.path.dirname(os.path.abspath(__file__))


def cifar_like(directory):
    """Random images in the official layout of CIFAR-10: speed does not depend on what they show."""
    for name in [f"data_batch_{k}.bin" for k in range(1, 6)] + ["test_batch.bin"]:
        with open(os.path.join(directory, name), "wb") as file:
            for k in range(800 if name != "test_batch.bin" else 32):
                file.write(bytes([k % 10]) + os.urandom(3072))


def dasgd(binary, data, seconds, slow, out):
    command = [binary, "train", "--model", "cnn", "--data", data, "--workers", "2", "--batch", "32", "--lr", "0.01",
               "--max-time", f"{seconds}s", "--quiet", "--out", out]
    if slow > 1:
        command += ["--slow", f"1:{slow}"]
    subprocess.run(command, check=True)
    with open(os.path.join(out, "summary.json")) as file:
        summary = json.load(file)
    assert summary["replicas_identical"] and summary["lost"] == 0
    return summary["samples"] / (max(summary["time"]) * 1e-9)


def ddp(seconds, slow, onednn):
    command = [sys.executable, os.path.join(HERE, "ddp_baseline.py"), "--seconds", str(seconds), "--slow", str(slow)]
    return float(subprocess.run(command + (["--onednn"] if onednn else []), check=True, capture_output=True,
                                text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    noise = Noise()
    # The faster of its two ways to compute, as dasgd chooses it for itself.
    onednn = ddp(3, 1, True) > ddp(3, 1, False)
    print(f"PyTorch DDP + gloo, 2 ranks, oneDNN {'on' if onednn else 'off'}; images per second, medians of {a.rounds}")
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as out:
        cifar_like(data)
        for slow in (1, 2, 10):
            pairs = [(dasgd(a.binary, data, a.seconds, slow, out), ddp(a.seconds, slow, onednn)) for _ in range(a.rounds)]
            ours, theirs = (statistics.median(column) for column in zip(*pairs))
            ratio = statistics.median(x / y for x, y in pairs)
            what = "equal workers" if slow == 1 else f"one worker {slow}x slower"
            print(f"{what:<24} dasgd {ours:8.0f}   DDP {theirs:8.0f}   {ratio:.2f}x", flush=True)
    noise.report()


if __name__ == "__main__":
    sys.exit(main())
