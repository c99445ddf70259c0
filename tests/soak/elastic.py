#!/usr/bin/env python3
"""Real members of an elastic run that are killed, stopped, cut off, sent away and joined at random, nobody spared, some
behind thin links or with a disk that their trace fills.

elastic.py DASGD --seconds 3600 [--seed N] [--calm 1] [--run "--message int8"]

Prints what happened; status 1 if a promise was broken. Members live on three hosts (network namespaces) that are cut
from each other by nftables, some in one direction only; where that is not allowed there are no cuts, no thin links (tc)
and no small disks, which is said. SIGSTOP lasts 1 to 60 s. Whoever is killed may be the first one, a newcomer on its
way in, one that is stopped or cut off: all but the last one that could go on. Nobody may end by itself or stand still
while nothing keeps it from computing; at the end all who are left come together and end with the same names and the
same bits, and `dasgd check` is content. With --calm 5 there are as many fewer events and gradients in a minute, for a
machine that has other things to do. `--run` has more options of the
run; `--run=--trace` where it is a single word.
"""
import argparse
import collections
import os
import pathlib
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from members import Hosts, Member, call, expect_same_end, may_make_hosts, run_inside, wait_until

MOST = 8  # members at once
GONE, ALONE = 4, 8  # seconds
PATIENCE = GONE + ALONE + 30  # how long nobody computes nothing, on a machine that may be busy
SETTINGS = ["--model", "quadratic", "--lr", "1e-4", "--total-gradients", "1000000000", "--eval-every", "0",
            "--checkpoint-every", "0", "--gone-after", f"{GONE}s", "--alone-after", f"{ALONE}s"]


class Soak:
    def __init__(self, dasgd, work, hosts, dice, calm, more):
        self.dasgd, self.work, self.hosts, self.dice, self.calm = dasgd, work, hosts, dice, calm
        self.counts = collections.Counter(joins=0, kills=0, stops=0, cuts=0, leaves=0, thin_links=0, full_disks=0)
        self.refused = collections.Counter()
        self.members, self.started = [], 0
        self.cut_until = [0.0] * (len(hosts) if hosts else 0)
        self.next_cut = self.next_thin = 0.0
        self.thin_until = [0.0] * len(self.cut_until)
        self.one_way = [False] * len(self.cut_until)
        self.disturbed = time.monotonic()
        self.computed, self.longest_pause, self.most_memory = {}, 0.0, 0
        self.first = self.start(["train", *SETTINGS, *more, "--compute", f"{20 * calm:g}ms"])
        wait_until("the first address", lambda: self.first.address() or self.first.process.poll() is not None)
        if not self.first.address():
            raise SystemExit(self.first.text())
        self.token = work / "token"
        shutil.copy(self.first.directory / "token", self.token)

    def start(self, arguments):
        host = self.dice.randrange(len(self.hosts)) if self.hosts else 0
        where = {"prefix": self.hosts.prefix(host), "listen": self.hosts.address(host)} if self.hosts else {}
        if self.hosts and arguments[0] == "join" and self.dice.random() < 0.2:
            arguments, where["disk"] = [*arguments, "--trace"], "192k"
        member = Member(self.dasgd, self.work, self.started, [*arguments, "--no-report"], **where)
        self.started += 1
        self.members.append(member)
        return member

    def has_model(self, m):
        return m is self.first or m.has_joined()

    def stay(self):
        """The members that can go on without the others."""
        return [m for m in self.members if not m.sleeps_until and not m.leaves and self.has_model(m)]

    def join(self):
        contacts = [m.address() for m in self.members if m.address()]
        self.dice.shuffle(contacts)
        self.start(["join", ",".join(contacts), "--token-file", self.token])
        self.counts["joins"] += 1

    def kill(self):
        one = self.dice.choice(self.members)
        if any(m is not one for m in self.stay()):
            one.process.kill()
            self.members.remove(one)
            one.process.wait()
            self.forget(one)
            self.counts["kills"] += 1

    def stop(self):
        stay = self.stay()
        if len(stay) > 2:
            one = self.dice.choice(stay)
            one.process.send_signal(signal.SIGSTOP)
            one.sleeps_until = time.monotonic() + 1 + 59 * self.dice.random() ** 4
            self.counts["stops"] += 1

    def leave(self):
        stay = self.stay()
        if len(stay) > 1:
            one = self.dice.choice(stay)
            one.leaves = True
            one.ask("leave")
            self.counts["leaves"] += 1

    def forget(self, member):
        """A day of members does not fill the disk."""
        self.counts["full_disks"] += "No space left on device" in member.text()
        member.remove()
        self.computed.pop(member.name, None)

    def wake(self, everybody=False):
        for m in self.members:
            if m.sleeps_until and (everybody or time.monotonic() > m.sleeps_until):
                m.process.send_signal(signal.SIGCONT)
                m.sleeps_until = 0.0
                self.disturbed = time.monotonic()

    def cut(self, heal=False):
        """Hosts are cut off one by one, and come back in any order."""
        if not self.hosts:
            return
        now = time.monotonic()
        before = list(self.cut_until)
        self.cut_until = [until if until > now and not heal else 0.0 for until in before]
        if now > self.next_cut and not heal:
            host = self.dice.randrange(len(self.hosts))
            self.cut_until[host] = now + 0.5 + 24.5 * self.dice.random() ** 2
            self.one_way[host] = self.dice.random() < 0.2
            self.next_cut = now + self.dice.uniform(2, 30)
            self.counts["cuts"] += 1
        if self.cut_until == before:
            return
        off = [h for h, until in enumerate(self.cut_until) if until]
        others = range(len(self.hosts))
        self.hosts.separate({pair for h in off for o in others if o != h for pair in [(h, o), (o, h)][:1 if self.one_way[h] else 2]})
        self.disturbed = now

    def thin(self, heal=False):
        """What a host sends passes slowly for a while."""
        now = time.monotonic()
        for host, until in enumerate(self.thin_until):
            if until and (heal or now > until):
                self.thin_until[host] = 0.0
                self.hosts.thin(host, 0)
                self.disturbed = now
        if not self.hosts or heal or now < self.next_thin:
            return
        host = self.dice.randrange(len(self.hosts))
        self.next_thin = now + self.dice.uniform(10, 60)
        if not self.thin_until[host] and self.hosts.thin(host, self.dice.randrange(100, 1000)):
            self.thin_until[host] = now + self.dice.uniform(5, 30)
            self.counts["thin_links"] += 1

    def reap(self):
        """Nobody ends unless it was asked to, or could not join."""
        for m in [m for m in self.members if m.process.poll() is not None]:
            self.members.remove(m)
            if not self.has_model(m) and m.process.returncode != 0:
                self.refused[m.text().strip().splitlines()[-1].removeprefix("dasgd: ").replace(f"{m.directory}/", "").split(" at ")[0]] += 1
            elif not m.leaves or m.process.returncode != 0:
                raise SystemExit(f"{m.name} ended with {m.process.returncode}: {m.text()[-1500:]}")
            self.forget(m)

    def watch(self):
        """No member that has a model stands still."""
        now = time.monotonic()
        if any(self.cut_until) or any(self.thin_until) or any(m.sleeps_until for m in self.members):
            self.disturbed = now
        for m in self.stay():
            status = m.status()
            own = next((s["gradients"] for s in status["members"] if s["name"] == m.name), 0)
            before, since = self.computed.get(m.name, (-1, now))
            if own != before:
                since = now
            self.computed[m.name] = (own, since)
            self.longest_pause = max(self.longest_pause, now - since)
            if now - max(since, self.disturbed) > PATIENCE:
                raise SystemExit(f"{m.name} stands still: {status}\n{m.text()[-1500:]}")
            try:
                with open(f"/proc/{m.process.pid}/status", encoding="utf-8") as file:
                    self.most_memory = max([self.most_memory, *(int(line.split()[1]) for line in file if line.startswith("VmHWM"))])
            except OSError:
                pass

    def play(self, seconds):
        began = time.monotonic()
        reported = watched = began
        while time.monotonic() < began + seconds:
            time.sleep(self.calm * self.dice.uniform(0.05, 0.5))
            self.wake()
            self.cut()
            self.thin()
            self.reap()
            if not self.members:
                raise SystemExit("nobody is left")
            event = self.dice.random()
            if len(self.members) < 2 or (event < 0.45 and len(self.members) < MOST):
                self.join()
            elif event < 0.9:
                self.kill()
            elif event < 0.95:
                self.stop()
            else:
                self.leave()
            if time.monotonic() > watched + 3:
                watched = time.monotonic()
                self.watch()
            if time.monotonic() > reported + 60:
                reported = time.monotonic()
                print(f"{reported - began:6.0f} s  {self.state()}", flush=True)

    def state(self):
        counts = ", ".join(f"{n} {what.replace('_', ' ')}" for what, n in self.counts.items())
        refused = ", ".join(f"{n} x {why}" for why, n in self.refused.items())
        return (f"{counts}; {sum(self.refused.values())} could not join{f' ({refused})' if refused else ''}; longest pause of a member {self.longest_pause:.1f} s; "
                f"at most {self.most_memory / 1024:.0f} MB")

    def end(self):
        self.wake(everybody=True)
        self.cut(heal=True)
        self.thin(heal=True)
        while len(self.members) < 3:  # one alone is like itself
            self.join()
        wait_until("the last newcomers' model", lambda: self.reap() or all(self.has_model(m) for m in self.members), details=lambda: [m.text()[-500:] for m in self.members])
        wait_until("the last goodbye", lambda: self.reap() or not any(m.leaves for m in self.members), details=lambda: [m.text()[-500:] for m in self.members])
        survivors = list(self.members)
        wait_until("a meeting of all", lambda: all(m.sees("here", "behind") == len(survivors) for m in survivors),
                   details=lambda: [(m.name, m.text()[-900:], [s for s in m.status()["members"] if s["state"] not in ("dead", "left")]) for m in survivors])
        at = [m.status()["t"] for m in survivors]
        wait_until("a step of everybody", lambda: all(m.status()["t"] > t for m, t in zip(survivors, at)))
        call(self.dasgd, "stop", survivors[0].directory, timeout=60)
        summaries = expect_same_end(self.dasgd, survivors, limit=120)
        for m in survivors:
            self.forget(m)
        return summaries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dasgd", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--calm", type=float, default=1)
    parser.add_argument("--run", type=shlex.split, default=[])
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if not given.inside and may_make_hosts():
        sys.exit(run_inside(__file__))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hosts = Hosts(3) if given.inside else None
    if not hosts:
        print("network namespaces with nftables are not allowed here: nobody is cut off")
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            soak = Soak(given.dasgd, pathlib.Path(folder), hosts, random.Random(given.seed), given.calm, given.run)
            soak.play(given.seconds)
            summaries = soak.end()
        finally:
            if hosts:
                hosts.close()
            subprocess.run(["pkill", "-KILL", "-P", str(os.getpid())], check=False)
    s = summaries[0]
    print(f"seed {given.seed}: {given.seconds:g} s, {soak.state()}; {len(summaries)} survivors, identical; {s['members']} members in all, {s['gradients']} gradients in the model, "
          f"{sum(s['lost_gradients'].values())} known to be lost with {len(s['lost_gradients'])} of the dead, {sum(s['abandoned'] for s in summaries)} abandoned", flush=True)


main()
