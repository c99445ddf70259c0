#!/usr/bin/env python3
"""Three members with four million numbers each, one of which is stopped: the others stay within the memory that docs/design.md says.

memory.py DASGD    prints what they took; status 1 if a promise was broken
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from members import Member, expect_same_end, wait_until, write_array

DASGD = pathlib.Path(sys.argv[1]).resolve()
MEMBERS, INPUTS, CLASSES = 3, 4096, 1000
GRADIENTS = 100  # made beside the stopped member: more than the log keeps
D = CLASSES * (INPUTS + 1)
UPDATE, MODEL = 4 * D, 8 * D
MB = 1 << 20
# docs/design.md: the log, copies of models, models and messages on their way, what waits for the worker, and the worker itself.
WAITING = max(64 * MB, (4 + 2 * MEMBERS) * UPDATE, min(16 * 4 * MEMBERS * UPDATE, 1024 * MB // 3))
LOG = max(1024 * MB, (MEMBERS + 1) * WAITING)
COPIES = max(512 * MB, 2 * MODEL)
MOVING = 3 * MODEL + 3 * MEMBERS * MODEL
INBOX = 3 * max(4, min(16, 64 * MB // UPDATE)) * UPDATE + (2 + 10) * MODEL
WORKER = 64 * D
SLACK = 300 * MB  # the program, its data, what the allocator keeps
began = time.monotonic()


def say(text):
    print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)


def peak(member):
    """The most memory that it has had, in bytes."""
    status = pathlib.Path(f"/proc/{member.process.pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def play(work):
    write_array(work / "x.npy", "|u1", (CLASSES, INPUTS), random.Random(1).randbytes(CLASSES * INPUTS))
    write_array(work / "y.npy", "<u2", (CLASSES,), b"".join(k.to_bytes(2, "little") for k in range(CLASSES)))
    first = Member(DASGD, work, 0, ["train", "--model", "softmax", "--data", f"{work / 'x.npy'},{work / 'y.npy'}", "--lr", "1e-5", "--batch", "2", "--total-gradients", 10**9,
                                    "--eval-every", "0", "--checkpoint-every", "0", "--gone-after", "3600s", "--no-report"])
    wait_until("the first address", first.address)
    members = [first, *(Member(DASGD, work, k, ["join", first.address(), "--token-file", first.directory / "token", "--no-report"]) for k in range(1, MEMBERS))]
    wait_until("a model of everybody's", lambda: all(m.has_joined() for m in members[1:]))
    wait_until("all to be linked", lambda: all(m.sees("here", "behind") == MEMBERS for m in members))
    stopped, others = members[-1], members[:-1]
    stopped.process.send_signal(signal.SIGSTOP)
    say("one is stopped")
    begin = first.status()["t"]
    wait_until("gradients beside it", lambda: first.status()["t"] >= begin + GRADIENTS, limit=600)
    for m in others:
        kept = m.status()["kept_bytes"]
        most = LOG + COPIES + MOVING + INBOX + WORKER
        say(f"{m.name}: {peak(m) / MB:.0f} MB at most, by the formula {most / MB:.0f}; log {kept['log'] / MB:.0f} of {LOG / MB:.0f}, "
            f"copies {kept['copies'] / MB:.0f} of {COPIES / MB:.0f}, models {kept['models'] / MB:.0f}")
        for what, is_most in (("log", LOG), ("copies", COPIES), ("models", 2 * MODEL)):
            if kept[what] > is_most:
                raise SystemExit(f"{m.name} keeps {kept[what]} bytes: {what}, at most {is_most}")
        if peak(m) > most + SLACK:
            raise SystemExit(f"{m.name} took {peak(m)} bytes, at most {most}")
    stopped.process.send_signal(signal.SIGCONT)
    before = stopped.status()["t"]
    wait_until("the stopped one to go on", lambda: stopped.status()["t"] > before + GRADIENTS // 2, limit=600)
    subprocess.run([DASGD, "stop", first.directory], check=True)
    expect_same_end(DASGD, members, limit=600)
    say("all ended with the same bits")


with tempfile.TemporaryDirectory() as folder:
    try:
        play(pathlib.Path(folder))
    finally:
        subprocess.run(["pkill", "-KILL", "-P", str(os.getpid())], check=False)
