#!/usr/bin/env python3
"""One process, seven that join it, three that are killed, the rest cut in two, healed, ended: real processes over TLS.

elastic_scenario.py DASGD [CUT_SECONDS [--signals]]    prints what happened; status 1 if a promise was broken

The two sides live on hosts (network namespaces) of their own, cut from each other by nftables. Where that is not allowed (or with --signals) the script says so and stops one
side by a signal instead.

Everything waits for what members see, and the run is ended when all are back and have gone on for a while: however slow a machine is, the
scenario happens. Then `dasgd check` is content with all directories, all five survivors have the same bits, the test accuracy is within a point of an
undisturbed run on as many gradients, and the report shows the dead and the cut. What a side has computed before it knew that it was cut off
comes late to the others, as a sum of gradients at an old point: whoever ends a run at once after a cut sees it in the accuracy.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from members import Hosts, Member, call, expect_same_end, may_make_hosts, run_inside, wait_until

DASGD = pathlib.Path(sys.argv[1]).resolve()
CUT = float(sys.argv[2]) if len(sys.argv) > 2 else 20.0
GONE = min(10.0, CUT / 3)
AFTERWARDS = 2000  # gradients
SETTINGS = ["--model", "softmax", "--lr", "0.002", "--batch", "128", "--seed", "7"]
began = time.monotonic()


def say(text):
    print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)


def seen(member):
    return member.name, member.process.poll(), {m["name"]: m["state"] for m in member.status()["members"]}, member.text()[-400:]


def play(work, hosts):
    def start(number, *arguments):
        where = {"prefix": hosts.prefix(number % 2), "listen": hosts.address(number % 2)} if hosts else {}
        return Member(DASGD, work, number, arguments, **where)

    first = start(0, "train", *SETTINGS, "--total-gradients", 10**9, "--compute", "20ms", "--eval-every", "0", "--gone-after", f"{GONE:g}s")
    wait_until("the first address", first.address)
    members = [first, *(start(number, "join", first.address(), "--token-file", first.directory / "token") for number in range(1, 8))]
    # All know all: of one whom only the first had met nobody could know that it died.
    wait_until("eight members", lambda: all(m.sees("here", "behind") == 8 for m in members))
    wait_until("a model of everybody's", lambda: all(m.has_joined() for m in members[1:]))
    say("eight are here")
    for dead in (members[0], members[3], members[5]):
        dead.process.kill()
    survivors = [members[k] for k in (1, 2, 4, 6, 7)]
    wait_until("three dead", lambda: all(m.sees("dead") == 3 for m in survivors), details=lambda: [seen(m) for m in survivors])
    say("three were killed, the first among them")
    sides = [[members[k] for k in (2, 4, 6)], [members[k] for k in (1, 7)]]
    witness = sides[0][0]
    if hosts:
        hosts.separate({(0, 1), (1, 0)})
    for m in [] if hosts else sides[1]:
        m.process.send_signal(signal.SIGSTOP)
    end = time.monotonic() + CUT
    wait_until("the cut to be noticed", lambda: all(m.sees("gone") == len(sides[1]) for m in sides[0]), CUT + 60)
    before = witness.status()["t"]
    wait_until("the larger side to go on", lambda: witness.status()["t"] > before + 20)
    time.sleep(max(0.0, end - time.monotonic()))
    if hosts:
        hosts.separate(set())
    for m in [] if hosts else sides[1]:
        m.process.send_signal(signal.SIGCONT)
    say(f"cut in two ({len(sides[0])} and {len(sides[1])}) for {CUT:g} s, and healed")
    wait_until("all to be back", lambda: all(m.sees("here", "behind") == 5 for m in survivors))
    back = witness.status()["t"]
    say(f"all are back at step {back}")
    wait_until("all to go on", lambda: all(m.status()["t"] > back + AFTERWARDS for m in survivors), 300)
    call(DASGD, "stop", witness.directory)
    summaries = expect_same_end(DASGD, survivors, limit=400)
    say("ended")
    checked = subprocess.run([DASGD, "check", *[m.directory for m in members]], capture_output=True, text=True)
    if checked.returncode != 0:
        raise SystemExit(checked.stdout + checked.stderr)
    if any(s["lost"] or s["abandoned"] or not s["replicas_identical"] for s in summaries):
        raise SystemExit(f"something was lost: {summaries}")
    history = (witness.directory / "membership.jsonl").read_text()
    if history.count('"dead"') != 3 or history.count('"gone"') < len(sides[1]):
        raise SystemExit(f"the history of {witness.name} lacks it:\n{history}")
    return summaries[0]


def main(hosts):
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        s = play(work, hosts)
        call(DASGD, "train", *SETTINGS, "--total-gradients", s["gradients"], "--workers", "5", "--quiet", "--no-report", "--out", work / "calm")
        calm = json.loads((work / "calm" / "summary.json").read_text())
        say(f"{s['gradients']} gradients, S_avg {s['S_avg']:.0f}, S_max {s['S_max']}; accuracy {s['accuracy']:.4f}, undisturbed {calm['accuracy']:.4f}; {s['members']} members, {s['lost_members']} lost, "
            f"lost gradients {sum(s['lost_gradients'].values())} known, abandoned {s['abandoned']}")
        if abs(s["accuracy"] - calm["accuracy"]) > 0.01:
            raise SystemExit("the accuracy is not that of an undisturbed run")


if "--inside" not in sys.argv:
    if may_make_hosts() and "--signals" not in sys.argv:
        sys.exit(run_inside(__file__))
    say("network namespaces with nftables are not allowed here: one side is stopped by a signal instead of cut")
try:
    main(Hosts(2) if "--inside" in sys.argv else None)
finally:
    subprocess.run(["pkill", "-KILL", "-P", str(os.getpid())], check=False)
