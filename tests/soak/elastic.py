#!/usr/bin/env python3
"""Real members of an elastic run that are killed, stopped, sent away and joined at random, nobody spared.

elastic.py DASGD SECONDS [SEED]    prints what happened; status 1 if a promise was broken

After it: all who are left end by themselves with the same names and the same bits, `dasgd check` is content with all
directories, and no survivor's step counter stood still while it could compute.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

DASGD = pathlib.Path(sys.argv[1]).resolve()
SECONDS = float(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else int(time.time())
MOST = 5
counts = {"joins": 0, "kills": 0, "stops": 0, "leaves": 0, "failed joins": 0}


class Member:
    def __init__(self, work, number, arguments):
        self.name = f"w{number}"
        self.directory = work / self.name
        self.log = open(work / f"{self.name}.log", "wb")
        self.process = subprocess.Popen([DASGD, *arguments, "--name", self.name, "--out", self.directory, "--no-report"], stdout=self.log,
                                        stderr=subprocess.STDOUT)
        self.sleeps_until = 0.0
        self.leaves = False

    def text(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def address(self):
        try:
            return (self.directory / "address").read_text().strip()
        except OSError:
            return ""

    def status(self):
        done = subprocess.run([DASGD, "status", self.directory, "--json"], capture_output=True, text=True, timeout=20)
        return json.loads(done.stdout) if done.returncode == 0 else None


def wait_until(what, happened, limit=60):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if happened():
            return
        time.sleep(0.05)
    raise SystemExit(f"seed {SEED}: {what} did not happen within {limit} s")


def main():
    dice = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        token = work / "token"
        members, all_members = [], []

        def start(arguments):
            member = Member(work, len(all_members), arguments)
            members.append(member)
            all_members.append(member)
            return member

        first = start(["train", "--model", "quadratic", "--lr", "1e-4", "--compute", "5ms", "--total-gradients", "100000000", "--listen", "127.0.0.1:0",
                       "--eval-every", "0", "--gone-after", "4s", "--alone-after", "8s"])
        wait_until("the first address", first.address)
        token.write_bytes((first.directory / "token").read_bytes())
        token.chmod(0o600)

        def wake(everybody=False):
            for m in members:
                if m.sleeps_until and (everybody or time.monotonic() > m.sleeps_until):
                    m.process.send_signal(signal.SIGCONT)
                    m.sleeps_until = 0.0

        def reap():
            for m in [m for m in members if m.process.poll() is not None]:
                members.remove(m)
                if m.process.returncode not in (0, -9):
                    if "cannot join" in m.text() or "nobody answers" in m.text() or "dasgd: " in m.text():
                        counts["failed joins"] += 1
                    else:
                        raise SystemExit(f"seed {SEED}: {m.name} ended with {m.process.returncode}: {m.text()[-500:]}")

        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            time.sleep(dice.uniform(0.05, 0.5))
            wake()
            reap()
            ready = [m for m in members if m.address() and not m.sleeps_until]
            joined = [m for m in ready if not m.leaves and (m is first or "joined at step" in m.text())]
            if not ready:
                wake(everybody=True)
                continue
            event = dice.random()
            if len(members) < 2 or (event < 0.45 and len(members) < MOST):
                counts["joins"] += 1
                start(["join", ",".join(m.address() for m in ready), "--token-file", token])
            elif event < 0.75 and len(joined) > 1:
                counts["kills"] += 1
                dice.choice(joined).process.kill()
            elif event < 0.9 and len(joined) > 2:
                counts["stops"] += 1
                one = dice.choice(joined)
                one.process.send_signal(signal.SIGSTOP)
                one.sleeps_until = time.monotonic() + dice.uniform(0.2, 3)
            elif len(joined) > 1:
                counts["leaves"] += 1
                one = dice.choice(joined)
                one.leaves = True
                subprocess.run([DASGD, "leave", one.directory], capture_output=True, timeout=20)
        wake(everybody=True)
        time.sleep(5)
        reap()
        if not members:
            for m in all_members:
                print(f"--- {m.name} ({m.process.returncode}): {m.text()[-700:]}")
            raise SystemExit(f"seed {SEED}: nobody is left")
        before = {m.name: m.status() for m in members}
        time.sleep(2)
        reap()
        for m in members:
            now = m.status()
            if before.get(m.name) and now and now["t"] <= before[m.name]["t"]:
                raise SystemExit(f"seed {SEED}: {m.name} stands still: {now}")
        subprocess.run([DASGD, "stop", members[0].directory], check=True, capture_output=True, timeout=20)
        survivors = list(members)
        for m in survivors:
            try:
                m.process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                raise SystemExit(f"seed {SEED}: {m.name} does not end: {m.text()[-800:]}") from None
        summaries = {m.name: json.loads((m.directory / "summary.json").read_text()) for m in survivors if (m.directory / "summary.json").exists()}
        digests = {s["replica_digest"] for s in summaries.values()} | set()
        names = {s["set_hash"] for s in summaries.values()}
        check = subprocess.run([DASGD, "check", *[m.directory for m in survivors]], capture_output=True, text=True)
        steps = max((s["gradients"] for s in summaries.values()), default=0)
        abandoned = sum(s["abandoned"] for s in summaries.values())
        print(f"seed {SEED}: {SECONDS:g} s, {counts}, {len(summaries)} survivors, {steps} gradients in the model, {abandoned} abandoned", flush=True)
        if len(digests) != 1 or len(names) != 1 or check.returncode != 0:
            for m in survivors:
                print(f"--- {m.name}: {m.text()[-1500:]}")
            raise SystemExit(f"seed {SEED}: survivors differ: {names} {digests}\n{check.stdout}{check.stderr}")


try:
    main()
finally:
    subprocess.run(["pkill", "-KILL", "-P", str(os.getpid())], check=False)
