#!/usr/bin/python3
"""Whole elastic runs between processes of this machine, over TLS.

  elastic_runs.py build/release/dasgd [--seconds 6] [--only join|pair|slow] [--dimension 25000000]
join: from `dasgd join` to the newcomer's first gradient in a model of 25 M numbers, beside the time to load its data, and
      the rate of the two others meanwhile against before. Wanted: 2 s beyond loading, 0.95.
pair: the CNN on two members against two runs of one worker at the same time that know nothing of each other. Wanted: 0.95.
slow: one of two members 10 times slower, against the sum of their speeds; gradients padded to 20 ms. Wanted: 0.95.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

from noise import Noise


class Member:
    def __init__(self, binary, work, name, arguments):
        self.binary, self.name, self.directory = binary, name, work / name
        self.log = work / f"{name}.log"
        self.began = time.monotonic()
        self.process = subprocess.Popen([binary, *map(str, arguments), "--name", name, "--no-report", "--quiet", "--out", self.directory],
                                        stdout=self.log.open("wb"), stderr=subprocess.STDOUT)

    def address(self):
        path = self.directory / "address"
        return path.read_text().strip() if path.exists() else ""

    def status(self):
        done = subprocess.run([self.binary, "status", self.directory, "--json"], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else {"t": 0, "members": []}

    def gradients(self):
        """By member, as this one sees them."""
        return {m["name"]: m["gradients"] for m in self.status()["members"]}

    def stop(self):
        subprocess.run([self.binary, "stop", self.directory], capture_output=True)

    def until(self, happened):
        while not happened():
            if self.process.poll() is not None:
                sys.exit(f"{self.name} has ended: {self.log.read_text(errors='replace')[-600:]}")
            time.sleep(0.02)


def begin(binary, work, settings):
    first = Member(binary, work, "first", ["train", *settings, "--listen", "127.0.0.1:0", "--eval-every", "0", "--checkpoint-every", "0", "--epochs", "1000000000"])
    first.until(first.address)
    return first


def join(binary, work, first, name, *more):
    return Member(binary, work, name, ["join", first.address(), "--token-file", first.directory / "token", *more])


def rates(first, names, seconds):
    """Gradients per second of these members over so many seconds."""
    before, then = first.gradients(), time.monotonic()
    time.sleep(seconds)
    after = first.gradients()
    spent = time.monotonic() - then
    return [(after[name] - before[name]) / spent for name in names]


def end(*members):
    members[0].stop()
    for m in members:
        m.process.wait(timeout=300)


def joining(binary, work, dimension, seconds):
    data = work / "wide.svm"
    data.write_text(f"1 1:0.5 {dimension}:1\n-1 2:0.5 {dimension // 2}:1\n" * 4)
    settings = ["--model", "logistic", "--data", data, "--batch", "1", "--lr", "1e-3", "--compute", "1s"]
    first = begin(binary, work, settings)
    second = join(binary, work, first, "second")
    first.until(lambda: first.gradients().get("second", 0) > 2)
    before = sum(rates(first, ["first", "second"], seconds))
    counts, then = first.gradients(), time.monotonic()
    third = join(binary, work, first, "third")
    third.until(third.address)
    loaded = time.monotonic()
    third.until(lambda: third.status()["t"] > 0)  # it has a model, and begins its first gradient
    done = time.monotonic()
    time.sleep(max(0, then + seconds - time.monotonic()))  # a gradient a second: few say little
    after = first.gradients()
    meanwhile = sum(after[name] - counts[name] for name in ("first", "second")) / (time.monotonic() - then)
    end(first, second, third)
    print(f"join, d = {dimension:,}: {loaded - third.began:.2f} s to load, then {done - loaded:.2f} s to the beginning of its first gradient, up to 1 of them until a gradient of the member that gives its model is complete (wanted: 2); "
          f"the others {meanwhile / before:.2f} of {before:.2f}/s meanwhile (wanted: 0.95)")


def pair(binary, work, seconds):
    settings = ["--model", "cnn", "--data", "fashion-mnist", "--batch", "32", "--lr", "0.001"]

    def alone(name):
        return subprocess.Popen([binary, "train", *settings, "--workers", "1", "--max-time", f"{seconds}s", "--eval-every", "0", "--quiet", "--no-report", "--out", work / name])
    both = [alone("one"), alone("other")]
    for process in both:
        process.wait()
    speeds = [json.loads((work / name / "summary.json").read_text()) for name in ("one", "other")]
    bare = sum(s["gradients"] / s["wall_seconds"] for s in speeds)
    first = begin(binary, work, settings)
    second = join(binary, work, first, "second")
    first.until(lambda: first.gradients().get("second", 0) > 5)
    together = sum(rates(first, ["first", "second"], seconds))
    end(first, second)
    print(f"pair, CNN: {together:.1f}/s together, {bare:.1f}/s apart: {together / bare:.2f} (wanted: 0.95)")


def slow(binary, work, seconds):
    settings = ["--model", "softmax", "--data", "fashion-mnist", "--batch", "16", "--lr", "0.0005", "--compute", "20ms"]
    first = begin(binary, work, settings)
    alone = rates(first, ["first"], seconds)[0]
    second = join(binary, work, first, "second", "--slow", "10")
    first.until(lambda: first.gradients().get("second", 0) > 1)
    together = sum(rates(first, ["first", "second"], 2 * seconds))
    end(first, second)
    print(f"slow: {together:.1f}/s with one 10 times slower, {alone * 1.1:.1f}/s is the sum of the speeds: {together / alone / 1.1:.2f} (wanted: 0.95)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--only", choices=["join", "pair", "slow"])
    parser.add_argument("--dimension", type=int, default=25_000_000)
    given = parser.parse_args()
    binary = given.binary.resolve()
    noise = Noise()
    for name, part in (("join", lambda w: joining(binary, w, given.dimension, given.seconds)), ("pair", lambda w: pair(binary, w, given.seconds)),
                       ("slow", lambda w: slow(binary, w, given.seconds))):
        if given.only in (None, name):
            with tempfile.TemporaryDirectory() as work:
                part(pathlib.Path(work))
    noise.report()


if __name__ == "__main__":
    main()
