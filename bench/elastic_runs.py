#!/usr/bin/python3
"""Whole elastic runs between processes of this machine, over TLS; medians of some turns.

  elastic_runs.py build/release/dasgd [--seconds 6] [--turns 3] [--only join|pair|slow]
join: a newcomer to two members of a model of 25 M floats (a softmax of 999 pixels and 25,000 classes on 40 samples: data that
      takes no time to load), gradients padded to half a second. From the start of `dasgd join` until it listens (settings, data,
      model, what is compared with the run), until it has the model of another, where its first gradient begins, and until that is
      complete; wanted: 2 s until it begins. The rate of the two others from its start to its first gradient, against before; wanted: 0.95.
pair: the CNN (28 x 28, batch 32) on two members against two runs of one worker at the same time that know nothing of each other. Wanted: 0.95.
slow: one of two members 10 times slower, against the sum of their speeds; gradients padded to 20 ms. Wanted: 0.95.
"""
import argparse
import json
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from noise import Noise

ALWAYS = ["--quiet", "--no-report"]
FOR_EVER = ["--eval-every", "0", "--checkpoint-every", "0", "--epochs", "1000000000"]


class Run:
    """`dasgd train` or `dasgd join` in a directory of its own."""

    def __init__(self, binary, work, name, arguments):
        self.name, self.directory, self.log = name, work / name, work / f"{name}.log"
        self.began = time.monotonic()
        self.process = subprocess.Popen([str(word) for word in [binary, *arguments, *ALWAYS, "--out", self.directory]],
                                        stdout=self.log.open("wb"), stderr=subprocess.STDOUT)

    def until(self, happened):
        """When it has happened."""
        while not happened():
            if self.process.poll() is not None:
                sys.exit(f"{self.name} has ended: {self.log.read_text(errors='replace')[-600:]}")
            time.sleep(0.005)
        return time.monotonic()

    def text(self, name):
        path = self.directory / name
        return path.read_text() if path.exists() else ""

    def rate(self, seconds):
        """Gradients per second over the last so many of a run of one worker that has ended."""
        self.process.wait()
        reported = [json.loads(line) for line in self.text("metrics.jsonl").splitlines()[:-1]]  # the last is of the end
        late = [line for line in reported if line["seconds"] > reported[-1]["seconds"] - seconds]
        return (late[-1]["gradients"] - late[0]["gradients"]) / (late[-1]["seconds"] - late[0]["seconds"])

    def end(self):
        self.process.kill()
        self.process.wait()


class Member(Run):
    def __init__(self, binary, work, name, arguments):
        super().__init__(binary, work, name, [*arguments, "--name", name])

    def status(self):
        try:
            with socket.socket(socket.AF_UNIX) as door:
                door.connect(str(self.directory / "control"))
                door.sendall(b"status\n")
                return json.loads(b"".join(iter(lambda: door.recv(1 << 16), b"")))
        except (OSError, ValueError):
            return {"members": []}

    def gradients(self):
        return next((m["gradients"] for m in self.status()["members"] if m["name"] == self.name), 0)

    def beat(self):
        """Its own gradients and the time, at the moment of the next."""
        before = self.gradients()
        self.until(lambda: self.gradients() > before)
        return before + 1, time.monotonic()


def begin(binary, work, settings):
    first = Member(binary, work, "first", ["train", *settings, *FOR_EVER, "--listen", "127.0.0.1:0"])
    first.until(lambda: first.text("address"))
    return first


def join(binary, work, first, name, *more):
    return Member(binary, work, name, ["join", first.text("address").strip(), "--token-file", first.directory / "token", *more])


def per_second(before, after):
    return [(n - m) / (t - s) for (m, s), (n, t) in zip(before, after)]


def rates(members, seconds):
    """Gradients per second of each, over so many seconds from now on."""
    before = [m.beat() for m in members]
    time.sleep(seconds)
    return per_second(before, [m.beat() for m in members])


def array(path, kind, shape, numbers):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + numbers)


def joining(binary, work, seconds, turns):
    rows, columns, classes = 40, 999, 25_000
    array(work / "x.npy", "|u1", (rows, columns), bytes((7 * i + 13 * j) % 251 for i in range(rows) for j in range(columns)))
    array(work / "y.npy", "<i4", (rows,), struct.pack(f"<{rows}i", *((classes - 1) * i // (rows - 1) for i in range(rows))))
    first = begin(binary, work, ["--model", "softmax", "--data", f"{work}/x.npy,{work}/y.npy", "--batch", "1", "--lr", "1e-3", "--compute", "500ms"])
    second = join(binary, work, first, "second")
    others = [first, second]
    second.beat()
    listens, begins, complete, shares, lowest = [], [], [], [], []
    for turn in range(turns):
        usual = rates(others, seconds)
        before = [m.beat() for m in others]
        third = join(binary, work, first, f"third{turn}")
        listens.append(third.until(lambda: third.text("address")) - third.began)
        begins.append(third.until(lambda: third.text("adoptions.jsonl")) - third.began)
        complete.append(third.until(third.gradients) - third.began)
        meanwhile = per_second(before, [m.beat() for m in others])
        shares.append(sum(meanwhile) / sum(usual))
        lowest.append(min(now / then for now, then in zip(meanwhile, usual)))
        third.end()
        first.until(lambda: all(m["state"] == "dead" for m in first.status()["members"] if m["name"] == third.name))
    for m in others:
        m.end()
    middle = statistics.median
    print(f"join, d = {(columns + 1) * classes:,}: it listens after {middle(listens):.2f} s, its first gradient begins after {middle(begins):.2f} s (wanted: 2; {' '.join(f'{x:.2f}' for x in begins)}) "
          f"and is complete after {middle(complete):.2f} s; the others {middle(shares):.2f} of their rate meanwhile (wanted: 0.95; {' '.join(f'{x:.2f}' for x in shares)}), the slower of them {middle(lowest):.2f}", flush=True)


def pair(binary, work, seconds, turns):
    rows = 2000  # the cost of a step has nothing to do with what is in the images; few are soon judged
    array(work / "x.npy", "|u1", (rows, 28, 28), bytes(k * k % 251 for k in range(rows * 28 * 28)))
    array(work / "y.npy", "<i4", (rows,), struct.pack(f"<{rows}i", *(k % 10 for k in range(rows))))
    settings = ["--model", "cnn", "--data", f"{work}/x.npy,{work}/y.npy", "--batch", "32", "--lr", "0.001"]
    shares = []
    for turn in range(turns):
        folder = work / str(turn)
        folder.mkdir()
        loop = ["train", *settings, *FOR_EVER, "--workers", "1", "--max-time", f"{seconds + 2}s"]
        apart = sum(run.rate(seconds) for run in [Run(binary, folder, name, loop) for name in ("one", "other")])
        first = begin(binary, folder, settings)
        both = [first, join(binary, folder, first, "second")]
        both[1].beat()
        time.sleep(2)
        together = sum(rates(both, seconds))
        for m in both:
            m.end()
        shares.append(together / apart)
        print(f"  {together:.1f}/s together, {apart:.1f}/s apart", flush=True)
    print(f"pair, CNN: {statistics.median(shares):.2f} of two runs apart (wanted: 0.95; {' '.join(f'{x:.2f}' for x in shares)})", flush=True)


def slow(binary, work, seconds, turns):
    settings = ["--model", "softmax", "--data", "fashion-mnist", "--batch", "16", "--lr", "0.0005", "--compute", "20ms"]
    shares = []
    for turn in range(turns):
        folder = work / str(turn)
        folder.mkdir()
        first = begin(binary, folder, settings)
        alone = sum(rates([first], seconds))
        second = join(binary, folder, first, "second", "--slow", "10")
        second.beat()
        shares.append(sum(rates([first, second], 2 * seconds)) / alone / 1.1)
        for m in (first, second):
            m.end()
    print(f"slow: {statistics.median(shares):.2f} of the sum of speeds with one 10 times slower (wanted: 0.95; {' '.join(f'{x:.2f}' for x in shares)})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", choices=["join", "pair", "slow"])
    given = parser.parse_args()
    noise = Noise()
    for name, part in (("join", joining), ("pair", pair), ("slow", slow)):
        if given.only in (None, name):
            with tempfile.TemporaryDirectory() as work:
                part(given.binary.resolve(), pathlib.Path(work), given.seconds, given.turns)
    noise.report()


if __name__ == "__main__":
    main()
