#!/usr/bin/env python3
"""One process, seven that join it, three that are killed, the rest cut in two, healed, ended: real processes over TLS.

elastic_story.py DASGD [CUT_SECONDS]    prints what happened; status 1 if a promise was broken

The two sides live in network namespaces of their own, and the cut is silent: frames go to an address that nobody has. Where
namespaces are not allowed the script says so and stops one side by a signal instead.

After it `dasgd check` is content with all directories, all five survivors end with the same bits, the test accuracy is
within a point of an undisturbed run on as many gradients, and the report tells of the dead and of the cut.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

DASGD = pathlib.Path(sys.argv[1]).resolve()
CUT = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
GONE = min(10.0, CUT / 3)
SETTINGS = ["--model", "softmax", "--lr", "0.01", "--batch", "128", "--seed", "7"]
NOWHERE = "02:00:00:00:00:99"
began = time.monotonic()


def say(text):
    print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)


def call(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True, **more).stdout


def seen(member):
    return member.name, member.process.poll(), {m["name"]: m["state"] for m in member.status()["members"]}, member.text()[-400:]


def wait_until(what, happened, limit=120, tell=lambda: ""):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if happened():
            return
        time.sleep(0.1)
    raise SystemExit(f"{what} did not happen within {limit} s {tell()}")


class Net:
    """Two sides that see each other until they are cut."""

    def __init__(self):
        self.other = subprocess.Popen(["unshare", "-n", "sleep", "1000000"])
        wait_until("the namespace", lambda: os.stat(f"/proc/{self.other.pid}/ns/net").st_ino != os.stat("/proc/self/ns/net").st_ino)
        self.enter = ["nsenter", "-t", str(self.other.pid), "-n"]
        call("ip", "link", "add", "side0", "type", "veth", "peer", "name", "side1", "netns", self.other.pid)
        self.links = []
        for side, enter in ((0, []), (1, self.enter)):
            call(*enter, "ip", "link", "set", "lo", "up")
            call(*enter, "ip", "address", "add", f"10.9.0.{side + 1}/24", "dev", f"side{side}")
            call(*enter, "ip", "link", "set", f"side{side}", "up")
            self.links.append(json.loads(call(*enter, "ip", "-j", "link", "show", f"side{side}"))[0]["address"])

    def host(self, side):
        return f"10.9.0.{side + 1}"

    def prefix(self, side):
        return self.enter if side == 1 else []

    def _point(self, addresses):
        for side, enter in ((0, []), (1, self.enter)):
            call(*enter, "ip", "neighbour", "replace", self.host(1 - side), "lladdr", addresses[1 - side], "dev", f"side{side}")

    def cut(self, _):
        self._point([NOWHERE, NOWHERE])

    def heal(self, _):
        self._point(self.links)

    def close(self):
        self.other.kill()


class Signals:
    """Where namespaces are not allowed: one side stands still."""

    def host(self, _):
        return "127.0.0.1"

    def prefix(self, _):
        return []

    def cut(self, members):
        for m in members:
            m.process.send_signal(signal.SIGSTOP)

    def heal(self, members):
        for m in members:
            m.process.send_signal(signal.SIGCONT)

    def close(self):
        pass


class Member:
    def __init__(self, work, net, number, arguments):
        self.name, self.side = f"w{number}", number % 2
        self.directory = work / self.name
        self.log = open(work / f"{self.name}.log", "wb")
        listen = [] if "--listen" in arguments else ["--listen", f"{net.host(self.side)}:0"]
        command = [*net.prefix(self.side), DASGD, *arguments, *listen, "--name", self.name, "--out", self.directory]
        self.process = subprocess.Popen([str(word) for word in command], stdout=self.log, stderr=subprocess.STDOUT)

    def text(self):
        return pathlib.Path(self.log.name).read_text(errors="replace")

    def address(self):
        try:
            return (self.directory / "address").read_text().strip()
        except OSError:
            return ""

    def status(self):
        done = subprocess.run([DASGD, "status", self.directory, "--json"], capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout) if done.returncode == 0 else {"t": 0, "members": []}

    def sees(self, *states):
        return sum(m["state"] in states for m in self.status()["members"])


def story(work, net):
    first = Member(work, net, 0, ["train", *SETTINGS, "--compute", "20ms", "--epochs", "1000000", "--eval-every", "0", "--gone-after", f"{GONE:g}s", "--listen", f"{net.host(0)}:0"])
    members = [first]
    wait_until("the first address", first.address)
    for number in range(1, 8):
        members.append(Member(work, net, number, ["join", first.address(), "--token-file", first.directory / "token"]))
    wait_until("eight members", lambda: first.sees("here", "behind") == 8)
    wait_until("a model of everybody's", lambda: all("joined at step" in m.text() for m in members[1:]))
    say("eight are here")
    for dead in (members[0], members[3], members[5]):
        dead.process.kill()
    survivors = [members[k] for k in (1, 2, 4, 6, 7)]
    one = survivors[0]
    wait_until("three dead", lambda: all(m.sees("dead") == 3 for m in survivors), tell=lambda: [seen(m) for m in survivors])
    say("three were killed, the first among them")
    sides = [[m for m in survivors if m.side == side] for side in (0, 1)]
    net.cut(sides[1])
    end = time.monotonic() + CUT
    wait_until("the cut to be noticed", lambda: all(m.sees("gone") == len(sides[1]) for m in sides[0]), CUT + 60)
    before = sides[0][0].status()["t"]
    wait_until("the larger side to go on", lambda: sides[0][0].status()["t"] > before + 20)
    time.sleep(max(0.0, end - time.monotonic()))
    net.heal(sides[1])
    say(f"cut in two ({len(sides[0])} and {len(sides[1])}) for {CUT:g} s, and healed")
    wait_until("all to be back", lambda: all(m.sees("here", "behind") == 5 for m in survivors))
    at = [m.status()["t"] for m in survivors]
    wait_until("all to go on", lambda: all(m.status()["t"] > t + 20 for m, t in zip(survivors, at)))
    call(DASGD, "stop", one.directory, timeout=60)
    for m in survivors:
        status = m.process.wait(timeout=120)
        if status != 0:
            raise SystemExit(f"{m.name} ended with {status}: {m.text()[-800:]}")
    say("ended")
    checked = subprocess.run([DASGD, "check", *[m.directory for m in members]], capture_output=True, text=True)
    if checked.returncode != 0:
        raise SystemExit(checked.stdout + checked.stderr)
    summaries = [json.loads((m.directory / "summary.json").read_text()) for m in survivors]
    digests = {s["replica_digest"] for s in summaries}
    if len(digests) != 1 or any(s["lost"] or s["abandoned"] or not s["replicas_identical"] for s in summaries):
        raise SystemExit(f"survivors differ, or something was lost: {summaries}")
    told = (one.directory / "membership.jsonl").read_text()
    if told.count('"dead"') != 3 or (told.count('"gone"') < len(sides[1])):
        raise SystemExit(f"the history of {one.name} does not tell it:\n{told}")
    return summaries[0]


def main():
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        net = None
        try:
            if "--inside" in sys.argv:
                net = Net()
            else:
                say("namespaces are not allowed here: one side is stopped by a signal instead of cut")
                net = Signals()
            s = story(work, net)
        finally:
            if net:
                net.close()
        call(DASGD, "train", *SETTINGS, "--workers", "5", "--total-gradients", s["gradients"], "--quiet", "--no-report", "--out", work / "calm")
        calm = json.loads((work / "calm" / "summary.json").read_text())
        say(f"{s['gradients']} gradients; accuracy {s['accuracy']:.4f}, undisturbed {calm['accuracy']:.4f}; {s['members']} members, {s['lost_members']} lost, "
            f"lost gradients {sum(s['lost_gradients'].values())} known, abandoned {s['abandoned']}")
        if abs(s["accuracy"] - calm["accuracy"]) > 0.01:
            raise SystemExit("the accuracy is not that of an undisturbed run")


may_unshare = subprocess.run(["unshare", "-rn", "unshare", "-n", "true"], capture_output=True).returncode == 0
if may_unshare and "--inside" not in sys.argv:
    sys.exit(subprocess.run(["unshare", "-rn", "--kill-child", sys.executable, __file__, str(DASGD), str(CUT), "--inside"]).returncode)
try:
    main()
finally:
    subprocess.run(["pkill", "-KILL", "-P", str(os.getpid())], check=False)
