#!/usr/bin/python3
"""Members behind thin network cards against PyTorch DDP over gloo behind the same cards (root, Linux, python3-torch).

  thin_links.py build/release/dasgd [--rate 50mbit] [--members 4] [--turns 1] [--slow 1] [--only dasgd,ddp] [--message full,int8]

Each member lives in a network namespace of its own; all hang on one bridge, and `tc tbf` limits each card in both
directions. The CNN on Fashion-MNIST, batch 32, gradients that take at least 100 ms, until an evaluation finds accuracy 0.80.
With --slow X the last member takes X times as long for a gradient. Prints for each turn the seconds to the goal, the accuracy of
the final model, gradients per second and S_avg.

With --predict SECONDS the members run for that long instead, and `dasgd simulate --elastic` predicts the same run.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
GOAL, BATCH, PACE, LIMIT = 0.80, 32, 0.1, 200


def sh(command):
    subprocess.run(command, shell=True, check=True)


class Cards:
    """Namespaces thin0, thin1, ... with addresses 10.77.0.1, ..., gone at the end."""

    def __init__(self, members, rate):
        self.names, self.rate = [f"thin{k}" for k in range(members)], rate
        self.clean()
        sh("ip link add thinbr type bridge && ip link set thinbr up")
        for k, name in enumerate(self.names):
            shape = f"root tbf rate {rate} burst 32kb latency 400ms"
            sh(f"ip netns add {name} && ip link add v{name} type veth peer name eth0 netns {name}")
            sh(f"ip link set v{name} master thinbr up && ip -n {name} addr add 10.77.0.{k + 1}/24 dev eth0")
            sh(f"ip -n {name} link set eth0 up && ip -n {name} link set lo up")
            sh(f"tc qdisc add dev v{name} {shape} && tc -n {name} qdisc add dev eth0 {shape}")

    def clean(self):
        for name in self.names:
            subprocess.run(f"ip netns del {name}; ip link del v{name}", shell=True, stderr=subprocess.DEVNULL)
        subprocess.run("ip link del thinbr", shell=True, stderr=subprocess.DEVNULL)

    def start(self, k, command, log, **more):
        return subprocess.Popen(["ip", "netns", "exec", self.names[k], *map(str, command)], stdout=log, stderr=log, **more)


def predict(cards, binary, work, problem, message, lr, pace, seconds):
    """Figures of a real run of so many seconds, and what `dasgd simulate` says of it."""
    run = [*problem, "--batch", BATCH, "--lr", lr, "--compute", f"{pace * 1000:g}ms", "--epochs", 1000, "--eval-every", "0",
           "--max-time", f"{seconds}s", "--message", message, "--no-report"]
    logs = [(work / f"{k}.log").open("wb") for k in range(len(cards.names))]
    first = cards.start(0, [binary, "train", *run, "--checkpoint-every", 0, "--listen", "10.77.0.1:7000", "--out", work / "m0"], logs[0])
    token = work / "m0" / "token"
    while not token.exists() and first.poll() is None:
        time.sleep(0.05)
    others = [cards.start(k, [binary, "join", "10.77.0.1:7000", "--token-file", token, "--listen", f"10.77.0.{k + 1}:7000", "--out", work / f"m{k}", "--no-report"], logs[k])
              for k in range(1, len(cards.names))]
    for p in [first, *others]:
        p.wait(seconds + 300)
    nic = int(rate_of(cards.rate) / 8)
    subprocess.run([str(word) for word in [binary, "simulate", "--elastic", "--workers", len(cards.names), *run, "--nic", nic, "--quiet", "--out", work / "sim"]], check=True)
    figures = [json.loads((work / d / "summary.json").read_text()) for d in ("m0", "sim")]
    # The first was alone for a moment, and the time includes what was under way at the end.
    return [{"gradients/s": s["gradients"] / seconds, "S_avg": s["S_avg"], "seconds": s.get("virtual_seconds", s["wall_seconds"]),
             "gradients per message": statistics.mean(link["gradients_per_message"] for link in s["links"])} for s in figures]


def rate_of(text):
    """Bits per second of "50mbit"."""
    return float(text[:-4]) * {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}[text[-4:]]


def run_dasgd(cards, binary, work, message, lr, slow):
    logs = [(work / f"{k}.log").open("wb") for k in range(len(cards.names))]
    always = ["--no-report", "--checkpoint-every", "0"]
    began = time.monotonic()
    first = [binary, "train", "--model", "cnn", "--data", "fashion-mnist", "--batch", BATCH, "--lr", lr, "--compute", f"{int(PACE * 1000)}ms",
             "--epochs", 1000, "--max-time", f"{LIMIT}s", "--target-accuracy", GOAL, "--eval-every", "5s", "--message", message, "--listen", "10.77.0.1:7000",
             "--out", work / "m0", *always]
    running = [cards.start(0, first, logs[0])]
    token = work / "m0" / "token"
    while not token.exists() and running[0].poll() is None:
        time.sleep(0.05)
    for k in range(1, len(cards.names)):
        own = ["--slow", slow] if slow > 1 and k == len(cards.names) - 1 else []
        running.append(cards.start(k, [binary, "join", "10.77.0.1:7000", "--token-file", token, "--listen", f"10.77.0.{k + 1}:7000",
                                       "--out", work / f"m{k}", *own, *always[:1]], logs[k]))
    status = [p.wait(LIMIT + 120) for p in running]
    if any(status):
        print(f"status {status}: see {work}")
        return {"seconds": LIMIT, "reached": False, "accuracy": 0.0, "per_second": 0.0, "S_avg": 0.0}
    s = json.loads((work / "m0" / "summary.json").read_text())
    return {"seconds": time.monotonic() - began if not s["stop_reason"].startswith("target") else s["wall_seconds"], "reached": s["stop_reason"].startswith("target"),
            "accuracy": s["accuracy"], "per_second": s["gradients"] / s["wall_seconds"], "S_avg": s["S_avg"]}


def run_ddp(cards, work, lr, slow):
    ranks, out = len(cards.names), work / "ddp.log"
    environment = {**os.environ, "GLOO_SOCKET_IFNAME": "eth0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, HERE / "ddp_to_goal.py", "--ranks", ranks, "--address", "10.77.0.1:7001", "--lr", lr, "--slow", slow, "--pace", PACE,
               "--goal", GOAL, "--limit", LIMIT, "--rank"]
    running = [cards.start(k, [*command, k], out.open("wb") if k == 0 else subprocess.DEVNULL, env=environment) for k in range(ranks)]
    for p in running:
        p.wait(LIMIT + 120)
    return json.loads(out.read_text().splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dasgd", nargs="?")
    parser.add_argument("--rate", default="50mbit")
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("--lr", type=float, nargs="*", default=[0.05])
    parser.add_argument("--only", default="dasgd,ddp")
    parser.add_argument("--message", default="full,int8")
    parser.add_argument("--predict", type=float, default=0)
    parser.add_argument("--model", default="cnn", help="with --predict")
    parser.add_argument("--data", default="fashion-mnist", help="with --predict")
    parser.add_argument("--pace", type=float, default=PACE, help="seconds of a gradient, with --predict")
    arguments = parser.parse_args()
    cards = Cards(arguments.members, arguments.rate)
    try:
        found = {}
        for message in arguments.message.split(",") if arguments.predict else []:
            real, predicted = predict(cards, arguments.dasgd, pathlib.Path(tempfile.mkdtemp(prefix="thin")),
                                      ["--model", arguments.model, "--data", arguments.data], message, arguments.lr[0], arguments.pace, arguments.predict)
            for what, value in real.items():
                print(f"{message:6} {what:22} real {value:8.2f}  predicted {predicted[what]:8.2f}  ratio {predicted[what] / value:.2f}", flush=True)
        for _ in range(0 if arguments.predict else arguments.turns):
            for lr in arguments.lr:
                ways = [("dasgd " + m, lambda work, m=m: run_dasgd(cards, arguments.dasgd, work, m, lr, arguments.slow))
                        for m in arguments.message.split(",") if "dasgd" in arguments.only]
                if "ddp" in arguments.only:
                    ways.append(("ddp", lambda work: run_ddp(cards, work, lr, arguments.slow)))
                for name, run in ways:
                    work = pathlib.Path(tempfile.mkdtemp(prefix="thin"))
                    f = run(work)
                    found.setdefault((name, lr), []).append(f["seconds"])
                    print(f"{name:12} lr {lr:<6} {f['seconds']:6.1f} s{'' if f['reached'] else ' (goal not reached)'}  "
                          f"accuracy {f['accuracy']:.3f}  {f['per_second']:.1f} gradients/s  S_avg {f['S_avg']:.1f}", flush=True)
        for (name, lr), seconds in found.items():
            print(f"median {name:12} lr {lr:<6} {statistics.median(seconds):6.1f} s")
    finally:
        cards.clean()


if __name__ == "__main__":
    main()
