"""dasgd.torch.Peer on ranks of MPI."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

torch = pytest.importorskip("torch")  # the package works without it


RANKS = """
import hashlib, json, sys, time, torch
sys.path.insert(0, {tests!r})
import dasgd, dasgd.torch
from loops import batches
{before}
torch.manual_seed({seed})
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 2)).to({device!r})
peer = dasgd.torch.Peer(model, lr=0.05, batch=32, rank_timeout="60s")
for k, (x, y) in enumerate(batches({steps})):
    loss = torch.nn.functional.cross_entropy(model(x.to({device!r})), y.to({device!r}))
    loss.backward()
    {during}
    peer.step(loss)
summary = peer.finish()
digest = hashlib.sha256(b"".join(t.detach().cpu().numpy().tobytes() for t in model.state_dict().values() if t.is_floating_point())).hexdigest()
print(json.dumps([peer.rank, peer.size, digest, summary["gradients"], summary["lost"], summary["gradients_by_worker"]]), flush=True)
"""


def mpirun(tmp_path, ranks, **parts):
    parts = {"tests": os.path.dirname(__file__), "seed": 1, "device": "cpu", "steps": "40", "before": "", "during": "", **parts}
    program = tmp_path / "train.py"
    program.write_text(textwrap.dedent(RANKS).format(**parts))
    return run_ranks(program, ranks)


def run_ranks(program, ranks):
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        ["mpirun", "--oversubscribe", "-n", str(ranks), sys.executable, str(program)],
        env=env, capture_output=True, text=True, timeout=600,
    )


def reports(done):
    """What the ranks have printed, also where mpirun put two ends of lines after two lines."""
    lines = done.stdout.replace("][", "]\n[").splitlines()
    return sorted(json.loads(line) for line in lines if line.startswith("["))


def test_ranks_end_with_the_same_bytes_and_lose_nothing(tmp_path):
    done = mpirun(tmp_path, 3)
    assert done.returncode == 0, done.stderr
    ranks = reports(done)
    assert [r[0] for r in ranks] == [0, 1, 2] and {r[1] for r in ranks} == {3}
    assert len({r[2] for r in ranks}) == 1, "parameters and averaged buffers are the same everywhere"
    assert all(r[3] == 120 and r[4] == 0 and r[5] == [40, 40, 40] for r in ranks)


SEVERAL = """
import hashlib, json, pathlib, sys, time, torch
sys.path.insert(0, {tests!r})
import dasgd.torch
from loops import batches
place = pathlib.Path({place!r})

def small(seed):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 2))

def train(peer, model, steps, before_the_first_step=lambda: None):
    for k, (x, y) in enumerate(batches(steps)):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        if k == 0: before_the_first_step()
        peer.step(loss)
    summary = peer.finish()
    digest = hashlib.sha256(b"".join(t.detach().numpy().tobytes() for t in model.state_dict().values() if t.is_floating_point())).hexdigest()
    return [digest, summary["gradients_by_worker"]]

def report(name, found): print(json.dumps([name, peer.rank, found]), flush=True)

model = small(1)
peer = dasgd.torch.Peer(model, lr=0.05, batch=32, rank_timeout="60s")
rank = peer.rank
report("early", train(peer, model, 10 + 40 * rank))

model = small(rank)
peer = dasgd.torch.Peer(model, lr=0.05, batch=32, rank_timeout="60s")
report("first", train(peer, model, 5))

model = small(1)
peer = dasgd.torch.Peer(model, lr=0.05, batch=32, rank_timeout="60s")
# Rank 0 starts again while rank 1 may still be beginning.
report("state", train(peer, model, 10, lambda: peer.load_state_dict(torch.load(place / "state.pt"))))

model = torch.nn.Linear(2, 1)
peer = dasgd.torch.Peer(model, lr=0.01, rank_timeout="60s")
if rank == 1: (place / "begun").touch()
while not (place / ("done" if rank == 1 else "begun")).exists(): time.sleep(0.01)
for _ in range(1 if rank == 1 else 10):
    model(torch.ones(1, 2)).sum().backward()
    peer.step()
(place / "done").touch()
summary = peer.finish()
report("staleness", [summary["S_max"], summary["S_avg"], summary["S_hat_max"], summary["lost"]])

model = torch.nn.Linear(2, 1)
peer = dasgd.torch.Peer(model, lr=0.01, gradients=10, rank_timeout="60s")
while True:
    model(torch.ones(1, 2)).sum().backward()
    if not peer.step(): break
report("budget", peer.finish()["gradients"])
"""


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """What two ranks have found in five runs, one after the other: to start PyTorch takes longer than all of them."""
    place = tmp_path_factory.mktemp("several")
    torch.manual_seed(5)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 2)
    )
    torch.save({"model": model.state_dict()}, place / "state.pt")
    program = place / "train.py"
    program.write_text(SEVERAL.format(tests=os.path.dirname(__file__), place=str(place)))
    done = run_ranks(program, 2)
    found = {}
    for name, rank, result in reports(done):
        found.setdefault(name, []).append(result)
    return done, found


def both(several, name):
    done, found = several
    assert len(found.get(name, [])) == 2, done.stderr
    return found[name]


def test_several_runs_of_the_same_ranks_end_well(several):
    assert several[0].returncode == 0, several[0].stderr


def test_a_rank_whose_data_end_early_holds_nobody_up(several):
    assert [by_rank for _, by_rank in both(several, "early")] == [[10, 50], [10, 50]]


def test_ranks_begin_with_the_model_of_the_first(several):
    assert len({digest for digest, _ in both(several, "first")}) == 1


def test_staleness_is_counted_exactly(several):
    """Rank 1 computes one gradient while rank 0 takes ten steps: at rank 0 it is ten gradients old, and at rank 1 each of the
    ten does not know that one."""
    assert both(several, "staleness") == [[10, 20 / 22, 10, 0]] * 2


def test_a_budget_ends_a_run_without_a_warning(several):
    assert both(several, "budget") == [20, 20] and "RuntimeWarning" not in several[0].stderr


def test_ranks_go_on_from_a_state(several):
    ranks = both(several, "state")
    assert len({digest for digest, _ in ranks}) == 1 and all(by_rank == [10, 10] for _, by_rank in ranks)


def test_an_exception_on_one_rank_ends_all(tmp_path):
    done = mpirun(tmp_path, 2, steps="1000000", during="if peer.rank == 1 and k == 5: raise RuntimeError('rank 1 is ill')\n    if not peer._goes_on: break")
    assert done.returncode != 0
    assert "rank 1 is ill" in done.stderr


def test_a_rank_that_leaves_early_is_reported_by_the_others(tmp_path):
    done = mpirun(tmp_path, 2, steps="1000", during="if peer.rank == 1 and k == 6: sys.exit(0)")
    assert done.returncode == 0, done.stderr
    [(rank, _, _, gradients, _, by_rank)] = reports(done)
    assert rank == 0 and by_rank[1] == 6
    assert done.stderr.count("RuntimeWarning") == 1
    assert done.stderr.count("dasgd: rank 1 ends without peer.finish(): the run ends for all") == 1
    assert "rank 0 ends" not in done.stderr
    assert f"the run was over after {gradients} gradients: a rank has left without `finish`" in done.stderr


def test_a_rank_that_leaves_while_others_finish_is_reported(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(textwrap.dedent(f"""
        import json, pathlib, sys, time, torch, dasgd.torch
        model = torch.nn.Linear(2, 1)
        peer = dasgd.torch.Peer(model, lr=0.01, rank_timeout="60s")
        finishing = pathlib.Path({str(tmp_path / 'finishing')!r})
        for _ in range(3 + 3 * peer.rank):
            model(torch.ones(1, 2)).sum().backward()
            peer.step()
        if peer.rank == 0: finishing.touch()
        while not finishing.exists(): time.sleep(0.01)
        if peer.rank == 1: sys.exit(0)
        print(json.dumps(peer.finish()["gradients_by_worker"]), flush=True)
        """))
    done = run_ranks(program, 2)
    assert done.returncode == 0, done.stderr
    assert reports(done) == [[3, 6]]
    assert done.stderr.count("RuntimeWarning") == 1


def test_a_rank_that_has_gone_is_waited_for_by_nobody(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(textwrap.dedent("""
        import torch, dasgd.torch
        first = dasgd.torch.Peer(torch.nn.Linear(2, 1), lr=0.01, rank_timeout="60s")
        first.finish()
        if first.rank == 1: raise RuntimeError("rank 1 is ill")
        dasgd.torch.Peer(torch.nn.Linear(2, 1), lr=0.01, rank_timeout="60s")
        """))
    done = run_ranks(program, 2)
    assert done.returncode != 0
    assert "rank 1 is ill" in done.stderr and "rank 1 has ended; a new run needs all ranks" in done.stderr


NAN = """
import time, torch, dasgd, dasgd.torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
peer = dasgd.torch.Peer(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.02), total_gradients=10**6, rank_timeout="60s")
def divergence(do):
    try: return [do() and None, None]
    except Exception as error: return [type(error).__name__, str(error)]
def train():
    for k in range(10**6):
        model(torch.ones(8, 4)).pow(2).mean().backward()
        if k == 5 and peer.rank == 1: model.weight.grad.fill_(float("nan"))
        if not peer.step(): return
import json
print(json.dumps([peer.rank, divergence(train), divergence(peer.finish)]), flush=True)
"""


def test_a_gradient_that_is_not_finite_is_a_divergence_on_all_ranks(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(NAN)
    done = run_ranks(program, 2)
    assert done.returncode == 0, done.stderr
    found = reports(done)
    assert [rank for rank, *_ in found] == [0, 1]
    for _, step, finish in found:
        assert step == finish and step[0] == "DivergenceError"
        assert "worker 1" in step[1] and "the gradient is not finite" in step[1] and "step size" not in step[1]


def command_line(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read()
    except OSError:  # it has gone
        return b""


INTERRUPTED = """
import os, time, torch, dasgd.torch
model = torch.nn.Linear(4, 2)
peer = dasgd.torch.Peer(model, lr=0.01, out={out!r}, trace=True, rank_timeout="60s")
def say(*words): print(peer.rank, *words, flush=True)
try:
    for k in range(10**9):
        if k == 5: say("begun")
        model(torch.ones(8, 4)).pow(2).mean().backward()
        if not peer.step(): break
except KeyboardInterrupt:
    say("interrupted")
finally:
    peer.save({out!r} + ".pt")
    time.sleep(3 * peer.rank)  # longer than mpirun waits after its own SIGTERM
    peer.finish()
    say("finished")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_a_launch_leaves_time_to_save(tmp_path, number):
    program, out = tmp_path / "train.py", tmp_path / "run"
    program.write_text(INTERRUPTED.format(out=str(out)))
    launched = subprocess.Popen(
        [os.environ["DASGD"], "launch", "-n", "2", "--", sys.executable, str(program)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    assert sorted(launched.stdout.readline() for _ in range(2)) == ["[0] 0 begun\n", "[1] 1 begun\n"]
    launched.send_signal(number)
    said, err = launched.communicate(timeout=600)
    assert launched.returncode == 130, err
    assert said.count("interrupted") >= 1 and said.count("finished") == 2, said + err
    assert (tmp_path / "run.pt").exists()
    assert {"summary.json", "metrics.jsonl", "trace.jsonl", "report.html"} <= {f.name for f in out.iterdir()}
    checked = subprocess.run([os.environ["DASGD"], "check", str(out)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_sigterm_is_an_interrupt_of_a_rank(tmp_path):
    """What mpirun sends to ranks for Ctrl-C."""
    done = mpirun(
        tmp_path, 2, steps="1000000",
        before="import os, signal\nassert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL",
        during="if peer.rank == 1 and k == 5:\n        try: os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)\n"
        "        except KeyboardInterrupt: print('interrupted', flush=True); peer.stop()\n    if not peer.goes_on: break",
    )
    assert done.returncode == 0, done.stderr
    assert "interrupted" in done.stdout and len(reports(done)) == 2


def test_an_interrupt_ends_all_ranks(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        textwrap.dedent(RANKS).format(
            tests=os.path.dirname(__file__), seed=1, device="cpu", steps="10**9", before="",
            during=f"if k == 5: open({str(tmp_path)!r} + f'/{{peer.rank}}', 'w').close()",
        )
    )
    launched = subprocess.Popen(
        [os.environ["DASGD"], "launch", "-n", "2", "--bare", "--", sys.executable, str(program)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )
    until = time.monotonic() + 120
    while not all((tmp_path / rank).exists() for rank in "01"):
        assert time.monotonic() < until and launched.poll() is None
        time.sleep(0.05)
    launched.send_signal(signal.SIGINT)
    out, _ = launched.communicate(timeout=600)
    assert launched.returncode != 0 and out == ""  # the status is that of mpirun
    assert not any(str(program).encode() in command_line(process) for process in os.listdir("/proc") if process.isdigit())
