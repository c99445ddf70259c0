#!/usr/bin/python3
"""One epoch over a file that memory does not hold: time, processor, and the memory that the program takes for itself.

  larger_than_memory.py build/release/dasgd [--gigabytes 20] [--batch 128] [--workers 2] [--own-memory 128] [--place DIR]
Writes images of 3 x 64 x 64 bytes (12 KiB: three pages or four) and their labels, has them dropped from the page cache, and trains softmax
by one pass of --epochs 1 while the program may have --own-memory MiB of its own. The file is deleted afterwards. A limit on the
page cache too needs a control group around all of it.
"""
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

from noise import Noise
from npy import header

SHAPE = (3, 64, 64)
WIDTH = SHAPE[0] * SHAPE[1] * SHAPE[2]
CLASSES = 4


def write(place, count):
    """Noise; the class makes the first numbers brighter. A few thousand images come again and again, shifted."""
    draw = random.Random(1)
    noise = draw.randbytes(1 << 24)
    labels = bytes(k % CLASSES for k in range(count))
    with open(f"{place}/y.npy", "wb") as file:
        file.write(header("|u1", (count,)) + labels)
    with open(f"{place}/x.npy", "wb") as file:
        file.write(header("|u1", (count, *SHAPE)))
        for label in labels:
            at = draw.randrange(len(noise) - WIDTH)
            mark = WIDTH // CLASSES // 8
            file.write(noise[at:at + label * mark] + b"\xff" * mark + noise[at + (label + 1) * mark:at + WIDTH])
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def own_memory(process):
    """Bytes that are not pages of files, now."""
    try:
        with open(f"/proc/{process}/status") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon")), 0)
    except FileNotFoundError:
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--gigabytes", type=float, default=20)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--own-memory", type=int, default=128, help="MiB")
    parser.add_argument("--place", default=tempfile.gettempdir())
    a = parser.parse_args()
    count = round(a.gigabytes * 1e9 / WIDTH)
    with tempfile.TemporaryDirectory(dir=a.place) as place:
        begin = time.monotonic()
        write(place, count)
        print(f"{count} images, {os.path.getsize(place + '/x.npy') / 1e9:.2f} GB, written in {time.monotonic() - begin:.0f} s", flush=True)
        most = a.own_memory << 20
        noise, begin, before = Noise(), time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.Popen(
            [a.binary, "train", "--model", "softmax", "--data", f"{place}/x.npy,{place}/y.npy", "--workers", str(a.workers), "--epochs", "1",
             "--batch", str(a.batch), "--validation", "0.001", "--lr", "0.01", "--no-report", "--out", f"{place}/run"],
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (most, most)))
        peak = 0
        while run.poll() is None:
            peak = max(peak, own_memory(run.pid))
            time.sleep(0.2)
        whole, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        if run.returncode != 0:
            return run.returncode
        with open(f"{place}/run/summary.json") as file:
            summary = json.load(file)
        epoch = summary["wall_seconds"]
        used = sum(after[:2]) - sum(before[:2])
        print(f"epoch {epoch:.0f} s: {summary['samples'] / epoch:.0f} images/s, {summary['samples'] * WIDTH / epoch / 1e6:.0f} MB/s; with statistics "
              f"before and the loss over all after it {whole:.0f} s, {used:.0f} s of the processor; own memory at most {peak / 1e6:.0f} MB")
        noise.report()
    return 0


if __name__ == "__main__":
    sys.exit(main())
