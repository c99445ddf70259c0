"""dasgd.torch.Peer as a member of an elastic run: `dasgd launch --elastic`."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")  # the package works without it

DASGD = os.environ["DASGD"]

# Files in the directory of the test are what workers send each other; nobody counts seconds.
PROGRAM = """
import hashlib, json, os, signal, sys, time
me = os.path.basename(os.environ["DASGD_MEMBER_DIR"])
{before}
sys.path.insert(0, {tests!r})
import torch, dasgd.torch
from loops import batches, network
def say(what): open(os.path.join({place!r}, what), "w").close()
def heard(*what): return all(os.path.exists(os.path.join({place!r}, one)) for one in what)
torch.set_num_threads(1)
model = network({seed})
peer = dasgd.torch.Peer(model, lr=0.05, batch=32)
assert peer.rank is None and peer.size is None
for k, (x, y) in enumerate(batches(10**9)):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    if not peer.step(loss): break
    if k == 5: say(me)
    {during}
summary = peer.finish()
digest = hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()
print(json.dumps([me, digest, summary["gradients"], summary["duplicated"], summary["members"]]), flush=True)
"""


class Launches:
    def __init__(self, place):
        self.place = place
        self.running = []

    def begin(self, *arguments, seed=1, before="", during="pass"):
        program = self.place / f"train-{len(self.running)}.py"
        program.write_text(
            PROGRAM.format(tests=os.path.dirname(__file__), place=str(self.place), seed=seed, before=before, during=during)
        )
        command = [DASGD, "launch", *arguments, "--", sys.executable, str(program)]
        self.running.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.place)
        )
        return self.running[-1]

    def wait_for(self, *names):
        until = time.monotonic() + 120
        while not all((self.place / name).exists() for name in names):
            assert time.monotonic() < until and self.running[0].poll() is None, names
            time.sleep(0.05)


@pytest.fixture
def launches(tmp_path):
    all_of_them = Launches(tmp_path)
    yield all_of_them
    for one in all_of_them.running:
        if one.poll() is None:
            one.kill()
        one.communicate()


def end_of(process):
    out, err = process.communicate(timeout=120)
    lines = (line.split("] ", 1)[1] for line in out.splitlines() if line.startswith("["))
    return process.returncode, [json.loads(line) for line in lines], err


def test_others_go_on_when_a_peer_is_killed_and_a_new_one_takes_its_place(launches):
    during = (  # the one that began the run
        "if me == 'worker-0' and heard('worker-0', 'worker-1', 'worker-2'): os.kill(os.getpid(), signal.SIGKILL)\n"
        "    if heard('worker-0.1'): break"
    )
    status, ended, err = end_of(launches.begin("-n", "3", "--elastic", during=during))
    assert status == 0, err
    assert "worker 0 was killed by signal 9; a new member takes its place" in err
    assert sorted(e[0] for e in ended) == ["worker-0.1", "worker-1", "worker-2"]
    assert len({e[1] for e in ended}) == 1, "the same bytes everywhere"
    assert all(e[3] == 0 for e in ended)


def test_another_launch_joins_and_leaves(launches):
    a = launches.begin("-n", "1", "--listen", "127.0.0.1:0", "--out", "a", during="if heard('end'): break")
    launches.wait_for("worker-0")
    address = (launches.place / "a/worker-0/address").read_text().strip()
    os.rename(launches.place / "worker-0", launches.place / "a-has-begun")
    b = launches.begin("-n", "1", "--join", address, "--token-file", "a/token", "--out", "b", during="if heard('end'): break")
    launches.wait_for("worker-0")
    shown = subprocess.run([DASGD, "status", "--json", "a/worker-0"], cwd=launches.place, capture_output=True, text=True)
    assert len(json.loads(shown.stdout)["members"]) == 2
    (launches.place / "end").touch()
    (status_a, ended_a, err_a), (status_b, ended_b, err_b) = end_of(a), end_of(b)
    assert (status_a, status_b) == (0, 0), err_a + err_b
    assert "join with: dasgd launch --join" in err_a
    assert ended_a[0][1] == ended_b[0][1]


def test_the_only_worker_of_a_host_is_replaced_while_others_train(launches):
    during = "if me == 'worker-0' and heard('b is known'): os.kill(os.getpid(), signal.SIGKILL)\n    if heard('worker-0.1'): break"
    a = launches.begin("-n", "1", "--listen", "127.0.0.1:0", "--out", "a", during=during)
    launches.wait_for("worker-0")
    first = launches.place / "a/worker-0"
    address = (first / "address").read_text().strip()
    b = launches.begin("-n", "1", "--join", address, "--token-file", "a/token", during="if k == 5: say('b')\n    if heard('worker-0.1'): break")
    launches.wait_for("b")  # it has the model
    until = time.monotonic() + 120
    while len((first / "addresses").read_text().split()) < 2:
        assert time.monotonic() < until and a.poll() is None and b.poll() is None
        time.sleep(0.05)
    (launches.place / "b is known").touch()
    (status_a, ended_a, err_a), (status_b, ended_b, err_b) = end_of(a), end_of(b)
    assert (status_a, status_b) == (0, 0), err_a + err_b
    assert "worker 0 was killed by signal 9; a new member takes its place" in err_a
    assert ended_a[0][:2] == ["worker-0.1", ended_b[0][1]]


def test_another_model_is_refused_in_one_line(launches):
    a = launches.begin("-n", "1", "--listen", "127.0.0.1:0", "--out", "a", during="if heard('end'): break")
    launches.wait_for("worker-0")
    address = (launches.place / "a/worker-0/address").read_text().strip()
    b = launches.begin("-n", "1", "--join", address, "--token-file", "a/token", "--restarts", "0", seed=2)
    status, _, err = end_of(b)
    assert status == 1
    assert "InputError: cannot join: the run began with other parameters" in err
    (launches.place / "end").touch()
    assert end_of(a)[0] == 0


def test_an_exception_in_one_loop_lets_the_others_go_on(launches):
    during = (
        "if me == 'worker-1' and heard('worker-0', 'worker-1'): raise RuntimeError('worker 1 is ill')\n"
        "    if me == 'worker-0' and heard('worker-1.1'): break\n"
        "    if me == 'worker-1.1' and heard('worker-1.1'): break"
    )
    status, ended, err = end_of(launches.begin("-n", "2", "--elastic", during=during))
    assert status == 0, err
    assert "worker 1 is ill" in err and "worker 1 ended with status 1; a new member takes its place" in err
    assert len({e[1] for e in ended}) == 1


def test_a_mistake_in_every_loop_ends_the_launch(launches):
    during = "if heard('worker-0', 'worker-1'): raise ValueError('a mistake')"
    status, ended, err = end_of(launches.begin("-n", "2", "--elastic", "--restarts", "1000", during=during))
    assert status == 1 and ended == []
    assert "ValueError: a mistake" in err
    assert re.search(r"dasgd: all members of this launch have ended; the first was worker [01], status 1$", err, re.MULTILINE)


def test_a_mistake_before_the_others_have_the_model_ends_the_launch(launches):
    launched = launches.begin("-n", "3", "--elastic", during="raise ValueError('a mistake')")
    status, ended, err = end_of(launched)
    assert status == 1 and ended == []
    assert "ValueError: a mistake" in err
    assert re.search(r"dasgd: all members of this launch have ended; the first was worker [012], status 1$", err, re.MULTILINE)


def test_the_last_member_ends_the_launch_of_those_who_try_to_join(launches):
    during = "if me == 'worker-0': sys.exit(3)"
    launched = launches.begin("-n", "2", "--elastic", before="if me != 'worker-0': time.sleep(600)", during=during)
    status, ended, err = end_of(launched)
    assert status == 3 and ended == []
    assert "dasgd: worker 0 ended with status 3; it is not replaced" in err
    assert "dasgd: all members of this launch have ended; the first was worker 0, status 3" in err


def test_an_interrupt_reaches_all_workers(launches):
    launched = launches.begin("-n", "2", "--elastic")
    launches.wait_for("worker-0", "worker-1")
    launched.send_signal(signal.SIGINT)
    status, ended, err = end_of(launched)
    assert status == 130 and ended == []
    assert err.count("KeyboardInterrupt") >= 2
