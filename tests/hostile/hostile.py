#!/usr/bin/env python3
"""What a hostile user, disk, file or clock does to a run on threads, played with the real program.

    hostile.py DASGD [--seed N] [--only NAME]    one line per scenario, one at the end; status 1 if a promise was broken

Each scenario expects what docs/security.md promises: one clear line, the right exit status, nothing half-written, no hang. One
that cannot be played here says why. Elastic runs have scenarios of their own in tests/soak.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

PATIENCE = 600  # seconds; a scenario that takes longer hangs, also on a busy machine
HERE = pathlib.Path(__file__).resolve().parent
ROWS = "x,y,label\n" + "".join(f"{k % 5},{k % 3},{k % 2}\n" for k in range(60))


class CannotPlay(Exception):
    pass


class Stage:
    def __init__(self, dasgd, directory, chance):
        self.dasgd, self.path, self.random = dasgd, directory, chance

    def start(self, *arguments, **more):
        command = [self.dasgd, *map(str, arguments)]
        return subprocess.Popen(command, cwd=self.path, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def run(self, *arguments, **more):
        return ended(self.start(*arguments, **more))

    def shell(self, script):
        return subprocess.run(["sh", "-c", script], cwd=self.path, capture_output=True, text=True, timeout=PATIENCE, check=False)

    def write(self, name, content):
        (self.path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    def summary(self, run="run"):
        return json.loads((self.path / run / "summary.json").read_text())


class Ended:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def refused(self, words, status=2):
        expect(self.status == status, f"status {self.status}: {self.err}")
        expect(words in self.err and self.err.count("\n") == 1, f"standard error is {self.err!r}")


def ended(process):
    try:
        out, err = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"it hangs; standard error is {err!r}") from None
    status = process.returncode
    return Ended(status if status >= 0 else 128 - status, out, err)


def expect(holds, otherwise):
    if not holds:
        raise AssertionError(otherwise)


def is_whole(stage, run="run"):
    for name in ("model.npy", "summary.json", "metrics.jsonl"):
        expect((stage.path / run / name).exists(), f"{name} is missing")
    left = [str(p) for p in (stage.path / run).rglob("*.partial")]
    expect(not left, f"half-written: {left}")
    expect(stage.summary(run)["lost"] == 0 and stage.summary(run)["replicas_identical"], "the audit failed")


QUADRATIC = ("--model", "quadratic", "--lr", "0.0001", "--workers", "2", "--quiet", "--no-report", "--out", "run")


def on_disk(stage, size, script):
    """Runs commands where ./disk is a file system of its own; run/ on it is at ./run afterwards."""
    (stage.path / "disk").mkdir(exist_ok=True)
    stage.write("script", f"mount -t tmpfs -o size={size} tmpfs disk || exit 77\ncd disk\n{script}\nstatus=$?\n"
                          "[ ! -e run ] || cp -r run ..\nexit $status\n")  # fmt: skip
    done = stage.shell(f"unshare {'-m' if os.geteuid() == 0 else '-rm'} sh script")
    if done.returncode == 77 or "unshare" in done.stderr:
        raise CannotPlay("no file system can be mounted: " + done.stderr.strip())
    return Ended(done.returncode, done.stdout, done.stderr)


def a_trace_fills_the_disk(stage):
    done = on_disk(stage, "2m", f"{stage.dasgd} train {' '.join(QUADRATIC)} --gradients 20000 --trace --checkpoint-every 0")
    done.refused("trace.jsonl: cannot be written: No space left on device; the run continues without it", 0)
    is_whole(stage)
    expect(stage.summary()["stop_reason"] == "budget", "training ended early")


def others_fill_the_disk(stage):
    done = on_disk(stage, "4m", f"""{stage.dasgd} train {' '.join(QUADRATIC)} --max-time 10min & run=$!
        until [ -s run/metrics.jsonl.partial ] || ! kill -0 $run; do sleep 0.1; done
        cat /dev/zero >others 2>/dev/null; sleep 1; kill -INT $run; wait $run""")  # fmt: skip
    expect(done.status == 130, f"status {done.status}: {done.err}")
    is_whole(stage)


def others_fill_the_disk_of_a_member(stage):
    done = on_disk(stage, "4m", f"""{stage.dasgd} train {' '.join(QUADRATIC).replace('--workers 2', '--workers 1')} --trace --compute 1ms --total-gradients 10000000 \\
          --listen 127.0.0.1:0 >log & run=$!
        until [ -s run/address ] || ! kill -0 $run; do sleep 0.1; done
        cat /dev/zero >others 2>/dev/null; {stage.dasgd} stop run && wait $run""")  # fmt: skip
    expect(done.status == 0, f"status {done.status}: {done.err}")
    is_whole(stage)
    expect(len(json.loads((stage.path / "run" / "members.json").read_text())) == 1, "the names of members are missing")


def a_disk_has_no_room_at_all(stage):
    on_disk(stage, "64k", f"{stage.dasgd} train {' '.join(QUADRATIC)}").refused("has no room for")


def a_member_joins_where_tmp_is_full(stage):
    done = on_disk(stage, "64k", f"""cat /dev/zero >full 2>/dev/null; export TMPDIR=$PWD; cd ..
        {stage.dasgd} train --model quadratic --lr 0.0007 --rule momentum --compute 2ms --total-gradients 10000000 \\
          --listen 127.0.0.1:0 --quiet --no-report --out a >a.log 2>&1 & a=$!
        until [ -s a/address ] || ! kill -0 $a; do sleep 0.1; done
        {stage.dasgd} join $(cat a/address) --token-file a/token --quiet --no-report --out b & b=$!
        until [ -s b/address ] || ! kill -0 $b; do sleep 0.1; done
        {stage.dasgd} stop a && wait $a && wait $b""")  # fmt: skip
    expect(done.status == 0, f"status {done.status}: {done.err}")
    learning = {run: {k: v for k, v in tomllib.loads((stage.path / run / "config.toml").read_text()).items()
                      if k in ("model", "lr", "batch", "sampling", "seed", "rule", "budget")} for run in ("a", "b")}  # fmt: skip
    expect(learning["a"] == learning["b"] and learning["b"]["lr"] == 0.0007, f"they learn differently: {learning}")
    expect(stage.summary("a")["replica_digest"] == stage.summary("b")["replica_digest"], "their models differ")


def data_is_a_device(stage):
    for device in ("/dev/zero", "/dev/urandom", "/dev/null"):
        stage.run("train", "--model", "softmax", "--data", device, "--out", "run").refused("is a device, not a file")
    expect(not (stage.path / "run").exists(), "a directory was made")


def data_is_a_pipe_that_nobody_fills(stage):
    os.mkfifo(stage.path / "pipe.csv")
    for command in ("train", "simulate", "advise", "compare"):
        process = stage.start(command, "--model", "softmax", "--data", "pipe.csv")
        time.sleep(0.5)  # the program may be anywhere; one signal is enough wherever it is
        process.send_signal(signal.SIGINT)
        done = ended(process)
        expect(done.status == 130 and not done.err, f"{command}: status {done.status}, {done.err!r}")


def limits_are_beyond_all_time(stage):
    for limit in ("2500000h", "9e18ns"):
        expect(stage.run("train", *QUADRATIC, "--gradients", 50, "--max-time", limit).status == 0, limit)
        expect(stage.summary()["stop_reason"] == "budget", limit)


def the_clock_jumps(stage):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise CannotPlay("no C compiler")
    library = stage.path / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, HERE / "jumping_clock.c"], check=True)
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"  # where there is one, it is linked second
    jumping = {**os.environ, "LD_PRELOAD": str(library), "ASAN_OPTIONS": sanitizer}
    for command in ("train", "simulate"):
        done = stage.run(command, *QUADRATIC, "--gradients", 2000, "--trace", env=jumping)
        expect(done.status == 0, done.err)
        is_whole(stage)
        expect(stage.run("check", "run", env=jumping).status == 0, "the trace is not sound")
    done = stage.run("train", *QUADRATIC, "--max-time", "1s", "--checkpoint-every", "100ms", env=jumping)
    expect(done.status == 0 and 0.9 < stage.summary()["wall_seconds"] < PATIENCE, f"{done.err}{stage.summary()['wall_seconds']}")


def checkpoints_are_damaged(stage):
    expect(stage.run("train", *QUADRATIC, "--gradients", 500, "--checkpoint-every", "1s").status == 0, "no run")
    for _ in range(20):
        for checkpoint in (stage.path / "run" / "checkpoints").iterdir():
            damage(stage, checkpoint)
        done = stage.run("train", "--resume", "run", "--gradients", 600, "--quiet", "--no-report")
        expect(done.status in (0, 2), f"status {done.status}: {done.err}")
        if done.status == 2:
            done.refused("checkpoints can be read") if done.err.count("\n") == 1 else None
            shutil.rmtree(stage.path / "run")
            expect(stage.run("train", *QUADRATIC, "--gradients", 500, "--checkpoint-every", "1s").status == 0, "no run")


def damage(stage, path):
    content = bytearray(path.read_bytes())
    content[stage.random.randrange(len(content))] ^= 1 << stage.random.randrange(8)
    path.write_bytes(content)


def networks_are_damaged(stage):
    stage.write("rows.csv", ROWS)
    done = stage.run("train", "--model", "mlp", "--data", "rows.csv", "--epochs", 2, "--validation", 0, "--quiet", "--no-report", "--out", "run")
    if "needs LibTorch" in done.err:
        raise CannotPlay("no LibTorch")
    expect(done.status == 0, done.err)
    right = stage.run("predict", "run/model.pt", "rows.csv").out
    found = 0
    for _ in range(40):
        shutil.copy(stage.path / "run" / "model.pt", stage.path / "bad.pt")
        damage(stage, stage.path / "bad.pt")
        done = stage.run("predict", "bad.pt", "rows.csv")
        if done.status == 0:
            expect(done.out == right, "a damaged network gave other answers")
            continue
        found += 1
        expect(done.status == 2 and done.err.count("\n") == 1 and not done.out, f"status {done.status}: {done.err!r}")
    print(f"  {found} of 40 damaged networks refused, the others answer as before")


LOOP = '''
import torch
class Loop(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.zeros(2, 2))
    @torch.jit.export
    def __getstate__(self):
        return (self.w, self.training)
    @torch.jit.export
    def __setstate__(self, state: tuple[torch.Tensor, bool]):
        k = 0
        while k >= 0:
            k = (k + 1) % 7
        self.w = state[0]
        self.training = state[1]
    def forward(self, x):
        return x @ self.w
torch.jit.script(Loop()).save("loop.pt")
'''


def a_network_never_opens(stage):
    if stage.shell("/usr/bin/python3 -c 'import torch'").returncode != 0:
        raise CannotPlay("no PyTorch to write it with")
    stage.write("loop.py", LOOP)
    stage.write("rows.csv", ROWS)
    made = stage.shell("/usr/bin/python3 loop.py")
    expect(made.returncode == 0, made.stderr)
    for arguments in (("predict", "loop.pt", "rows.csv"), ("train", "--model", "loop.pt", "--data", "rows.csv", "--out", "run")):
        process = stage.start(*arguments)
        time.sleep(2)
        if process.poll() is not None and "needs LibTorch" in (done := ended(process)).err:
            raise CannotPlay("no LibTorch")
        process.send_signal(signal.SIGINT)
        done = ended(process)
        expect(done.status == 130, f"status {done.status}: {done.err}")
    expect(not (stage.path / "run").exists(), "a directory was made")


SCENARIOS = [
    a_trace_fills_the_disk, others_fill_the_disk, others_fill_the_disk_of_a_member, a_disk_has_no_room_at_all,
    a_member_joins_where_tmp_is_full, data_is_a_device, data_is_a_pipe_that_nobody_fills,
    limits_are_beyond_all_time, the_clock_jumps, checkpoints_are_damaged, networks_are_damaged, a_network_never_opens,
]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dasgd")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    held = broken = skipped = 0
    for scenario in SCENARIOS:
        if options.only not in scenario.__name__:
            continue
        name = scenario.__name__.replace("_", " ")
        with tempfile.TemporaryDirectory(prefix="dasgd-hostile-") as directory:
            try:
                scenario(Stage(os.path.abspath(options.dasgd), pathlib.Path(directory), random.Random(f"{options.seed} {name}")))
                held += 1
                print(f"held: {name}", flush=True)
            except CannotPlay as why:
                skipped += 1
                print(f"not played: {name}: {why}", flush=True)
            except (AssertionError, OSError, KeyError, ValueError) as what:
                broken += 1
                print(f"BROKEN: {name}: {what}", flush=True)
    print(f"hostile: {held} held, {broken} broken, {skipped} not played")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
