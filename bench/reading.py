#!/usr/bin/python3
"""How fast data is read: a CSV file against `wc -l` and the readers of numpy and pandas, one with texts, dates and gaps, per core;
folders of PNG pictures by one core and by all.

  reading.py build/release/dasgd [--megabytes 200] [--pictures 4000] [--rounds 3]
Everything lies in the page cache. `dasgd data describe` reads, and looks at every number once more for its figures.
"""
import argparse
import os
import random
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from noise import Noise


def write_csv(path, megabytes):
    """Twenty numbers with four digits after the point, and a label."""
    draw = random.Random(1)
    lines = [",".join(f"{draw.gauss(0, 1):.4f}" for _ in range(20)) + f",{k % 2}\n" for k in range(5000)]
    block = "".join(lines)
    with open(path, "w") as file:
        file.write(",".join(f"c{k}" for k in range(20)) + ",label\n")
        for _ in range(max(1, round(megabytes * 1e6 / len(block)))):
            file.write(block)


def write_mixed(path, megabytes):
    """A table as people have them: an id, texts, a date, yes or no, gaps."""
    draw = random.Random(2)
    cities, jobs = [f"city {k}" for k in range(80)], ["nurse", "teacher", "driver", "engineer", ""]
    lines = [
        f"C{k:06},{draw.choice(cities)},{draw.choice(jobs)},{2020 + k % 4}-{1 + k % 12:02}-{1 + k % 28:02},{draw.randint(18, 80)},"
        f"{'' if draw.random() < 0.05 else round(draw.uniform(1e4, 9e4), 2)},{draw.choice(('yes', 'no'))},{draw.choice(('stays', 'leaves'))}\n"
        for k in range(20000)
    ]
    block = "".join(lines)
    with open(path, "w") as file:
        file.write("customer,city,job,last visit,age,income,account,label\n")
        for _ in range(max(1, round(megabytes * 1e6 / len(block)))):
            file.write(block)


def png(pixels, size):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + pixels[3 * size * y:3 * size * (y + 1)] for y in range(size))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_pictures(path, count, size=128):
    draw = random.Random(1)
    shown = [png(bytes((x + y * k) % 256 for y in range(size) for x in range(3 * size)), size) for k in range(1, 9)]
    for k in range(count):
        folder = os.path.join(path, "ab"[k % 2])
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{k}.png"), "wb") as file:
            file.write(draw.choice(shown))


PYTHON_READERS = {
    "numpy": "import time, numpy\nb = time.process_time()\nnumpy.loadtxt({!r}, delimiter=',', skiprows=1, dtype='f4')",
    "pandas": "import time, pandas\nb = time.process_time()\npandas.read_csv({!r}, dtype='f4')",
}


def by_python(reader, path):
    """Seconds of the processor without the start of Python; nothing where the module is not installed."""
    program = PYTHON_READERS[reader].format(path) + "\nprint(time.process_time() - b)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else None


def run(command, one_core=False):
    """Seconds on the clock and of the processor."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run((["taskset", "-c", str(min(os.sched_getaffinity(0)))] if one_core else []) + command, check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begin, sum(after[:2]) - sum(before[:2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--pictures", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    noise, cores = Noise(), len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as place:
        csv, pictures = os.path.join(place, "rows.csv"), os.path.join(place, "pictures")
        write_csv(csv, a.megabytes)
        write_pictures(pictures, a.pictures)
        size = os.path.getsize(csv) / 1e6

        def median(command, which, one_core=False):
            return statistics.median(run(command, one_core)[which] for _ in range(a.rounds))

        describe = [a.binary, "data", "describe"]
        counted, read = median(["wc", "-l", csv], 1, True), median(describe + [csv], 1, True)
        print(f"CSV, {size:.0f} MB, seconds of one core: wc -l {size / counted:6.0f} MB/s   dasgd {size / read:6.0f} MB/s   "
              f"{counted / read:.2f} of it")
        mixed = os.path.join(place, "mixed.csv")
        write_mixed(mixed, a.megabytes)
        mixed_size = os.path.getsize(mixed) / 1e6
        print(f"CSV with texts, dates and gaps, {mixed_size:.0f} MB, seconds of one core: {mixed_size / median(describe + [mixed], 1, True):6.0f} MB/s")
        os.remove(mixed)
        for reader in PYTHON_READERS:
            if seconds := by_python(reader, csv):
                print(f"CSV by {reader}: {size / seconds:6.0f} MB/s")
        print(f"CSV, {cores} cores, on the clock:   {size / median(describe + [csv], 0):6.0f} MB/s")
        one, all_cores = median(describe + [pictures], 0, True), median(describe + [pictures], 0)
        print(f"PNG, 128 x 128, {a.pictures}: one core {a.pictures / one:6.0f}/s   {cores} cores {a.pictures / all_cores:6.0f}/s   "
              f"{one / all_cores:.1f} times as fast")
    noise.report()


if __name__ == "__main__":
    sys.exit(main())
