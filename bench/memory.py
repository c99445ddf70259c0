#!/usr/bin/python3
"""Bytes per number of a model and worker: the peak memory of a softmax of 8 M numbers less that of one of 2 M.

  memory.py build/release/dasgd [--cases threads:1,threads:4,ranks:2] [--gradients 150] [--option=--look-ahead=off ...]
Blocks of up to 32 MiB, the arrays of 8 M numbers, glibc keeps when they are freed; with --columns 10000,16000 none are.
Each case is an engine and its workers: threads, ranks (mpirun, one worker each), member (one, alone) or simulate. Batches of 2
samples, no evaluations, no checkpoints, as in docs/benchmarks.md. The peak of one process is the system's (VmHWM). That of ranks is
the largest sum of their Pss, looked at all the time, in which memory that two share counts half in each.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

from noise import Noise
from npy import header

CLASSES = 1000


def write_data(place, widths):
    """One sample of bytes per class: a byte of data per number of the model."""
    draw = random.Random(1)
    with open(f"{place}/y.npy", "wb") as file:
        file.write(header("<u2", (CLASSES,)) + b"".join(k.to_bytes(2, "little") for k in range(CLASSES)))
    for width in widths:
        with open(f"{place}/x{width}.npy", "wb") as file:
            file.write(header("|u1", (CLASSES, width)) + draw.randbytes(CLASSES * width))


def pss(process):
    """Bytes, now; 0 for a process that has gone."""
    try:
        with open(f"/proc/{process}/smaps_rollup") as file:
            return next((int(line.split()[1]) << 10 for line in file if line.startswith("Pss:")), 0)
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return 0


def children_of(process):
    """All processes below this one that run the same program as it was given."""
    found = []
    try:
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children") as file:
                for child in map(int, file.read().split()):
                    found += [child] + children_of(child)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def is_of(process, program):
    try:
        return os.path.realpath(f"/proc/{process}/exe") == os.path.realpath(program)
    except OSError:
        return False


def run(command, program):
    """Peak bytes of the process, or of the sum of those that it starts."""
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    lines = []
    reader = threading.Thread(target=lambda: lines.extend(started.stderr))
    reader.start()
    together = command[0] != program
    largest = 0
    while together and started.poll() is None:
        largest = max(largest, sum(pss(p) for p in children_of(started.pid) if is_of(p, program)))
        time.sleep(0.005)
    if not together:
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        largest = used.ru_maxrss << 10
    reader.join()
    if started.returncode != 0:
        sys.exit(f"{' '.join(command)}: {b''.join(lines).decode()}")
    return largest


def command_of(engine, workers, width, place, args):
    program = os.path.realpath(args.program)
    total = ["--total-gradients", str(args.gradients * workers)]
    common = ["--model", "softmax", "--data", f"{place}/x{width}.npy,{place}/y.npy", "--batch", "2", "--lr", "1e-6",
              "--scale", "255"] + args.option
    real = ["--eval-every", "0", "--checkpoint-every", "0"]
    out = ["--out", tempfile.mkdtemp(dir=place) + "/run", "--quiet"]
    if engine == "threads":
        return [program, "train", *common, *real, *total, *out, "--workers", str(workers)]
    if engine == "ranks":
        return ["mpirun", "--oversubscribe", "--allow-run-as-root", "-n", str(workers), program, "train", *common, *real,
                *total, *out]
    if engine == "member":
        return [program, "train", "--listen", "127.0.0.1:0", "--plaintext", *common, *real, *total, *out]
    return [program, "simulate", *common, *total, *out, "--workers", str(workers)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--cases", default="threads:1,threads:4,ranks:1,ranks:2,member:1,simulate:4")
    parser.add_argument("--columns", default="2000,8000", help="thousand numbers of the smaller and the larger model")
    parser.add_argument("--gradients", type=int, default=60, help="of a worker")
    parser.add_argument("--option", action="append", default=[], help="an argument more for every run")
    args = parser.parse_args()
    noise = Noise()
    with tempfile.TemporaryDirectory() as place:
        widths = [int(width) for width in args.columns.split(",")]
        write_data(place, widths)
        for case in args.cases.split(","):
            engine, workers = case.split(":")
            peaks = [run(command_of(engine, int(workers), width, place, args), os.path.realpath(args.program))
                     for width in widths]
            numbers = (widths[1] - widths[0]) * CLASSES
            print(f"{engine}, workers: {workers}: {(peaks[1] - peaks[0]) / numbers / int(workers):.1f} bytes per number "
                  f"and worker (peaks {peaks[0] >> 20} and {peaks[1] >> 20} MiB)", flush=True)
    noise.report()


if __name__ == "__main__":
    main()
