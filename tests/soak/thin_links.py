#!/usr/bin/env python3
"""Three members with int8 messages, each on a host of its own behind a thin network card: bench/thin_links.py in small.

thin_links.py DASGD    prints what happened; status 1 if a promise was broken, 77 where network namespaces with thin cards are not allowed

A message takes a card longer than several gradients take a member, so what is made meanwhile has to leave as one bundle. The run ends at a
loss. No time is asserted: staleness is held against what bundles explain, n members with g gradients in a message.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from members import Hosts, Member, expect_same_end, may_make_hosts, run_inside, wait_until, write_array

DASGD = pathlib.Path(sys.argv[1]).resolve()
MEMBERS, KBIT = 3, 16000
INPUTS, CLASSES, ROWS = 1024, 128, 1280  # a softmax of 131,200 numbers: an int8 message is more than what the kernel keeps unsent
GOAL, FLOOR = 2.5, 0.9  # loss that ends the run, from log(CLASSES) down; accuracy of the final model
SKIPPED = 77
# A gradient waits for the message that is being sent, is in the next one, and the kernel and the card keep two more; what the others have
# not heard of at the origin has come the same way.
MESSAGES = 2 * 4
began = time.monotonic()


def say(text):
    print(f"{time.monotonic() - began:6.1f} s  {text}", flush=True)


def expect(holds, what):
    if not holds:
        raise SystemExit(f"broken: {what}")


def write_data(work):
    """Every class has a picture of its own, of which each row shows half."""
    draw = random.Random(1)
    pictures = [draw.randbytes(INPUTS) for _ in range(CLASSES)]
    rows = [bytes(pixel if draw.random() < 0.5 else draw.randrange(256) for pixel in pictures[k % CLASSES]) for k in range(ROWS)]
    write_array(work / "x.npy", "|u1", (ROWS, INPUTS), b"".join(rows))
    write_array(work / "y.npy", "|u1", (ROWS,), bytes(k % CLASSES for k in range(ROWS)))
    return f"{work / 'x.npy'},{work / 'y.npy'}"


def play(work, hosts):
    for host in range(MEMBERS):
        if not hosts.card(host, KBIT):
            say("tc cannot make a card thin here (sch_tbf): not played")
            sys.exit(SKIPPED)

    def start(number, *arguments):
        return Member(DASGD, work, number, arguments, prefix=hosts.prefix(number), listen=hosts.address(number))

    first = start(0, "train", "--model", "softmax", "--data", write_data(work), "--lr", "0.004", "--batch", "32", "--seed", "7", "--compute", "50ms", "--message", "int8",
                  "--epochs", "100000", "--target-eval-loss", GOAL, "--eval-every", "1s", "--checkpoint-every", "0", "--no-report")
    wait_until("the first address", first.address)
    members = [first, *(start(k, "join", first.address(), "--token-file", first.directory / "token", "--no-report") for k in range(1, MEMBERS))]
    summaries = expect_same_end(DASGD, members, limit=400)
    for s in summaries:
        sent = sum(link["messages"] for link in s["links"])
        each = sum(link["gradients"] for link in s["links"]) / sent
        most = MEMBERS * MESSAGES * each
        say(f"{s['name']}: {s['gradients']} gradients, {each:.1f} per message of {sum(link['bytes'] for link in s['links']) / sent / 1e3:.0f} kB, S_avg {s['S_avg']:.1f} "
            f"(bundles explain {most:.0f}), loss {s['eval_loss']:.3f}, accuracy {s['accuracy']:.3f}, ended by {s['stop_reason']}")
        expect(s["replicas_identical"] and s["lost"] == 0 and s["abandoned"] == 0, f"{s['name']} lost something: {s}")
        # One by one its gradients would take the card a seventh of a second each. A machine that makes fewer than five a second fills no card.
        rate = sum(link["gradients"] for link in s["links"]) / len(s["links"]) / s["wall_seconds"]
        expect(each > 1.1 or rate < 5, f"what waited for the card of {s['name']} did not leave as one: {each:.2f} gradients per message, {rate:.1f} made per second")
        expect(s["S_avg"] <= most, f"S_avg {s['S_avg']} of {s['name']} is more than bundles explain, {most:.1f}")
    ended = [s for s in summaries if s["stop_reason"] == "target-eval-loss"]
    expect(ended, f"nobody met the target: {[s['stop_reason'] for s in summaries]}")
    for s, m in zip(summaries, members):
        met = s["eval_loss"] <= GOAL
        if s in ended:
            expect(s["target_met"] == met and (met or "misses the target" in m.text()), f"{s['name']} does not say that its model misses the target")
        expect(s["accuracy"] >= FLOOR, f"what was under way cost {s['name']} its accuracy: {s['accuracy']}")


if "--inside" not in sys.argv:
    if may_make_hosts():
        sys.exit(run_inside(__file__))
    say("network namespaces are not allowed here: not played")
    sys.exit(SKIPPED)
try:
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        play(pathlib.Path(folder), Hosts(MEMBERS))
finally:
    subprocess.run(["pkill", "-KILL", "-P", str(os.getpid())], check=False)
