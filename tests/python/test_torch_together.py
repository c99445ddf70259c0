"""What several workers can ask of their peers: on ranks of MPI, and as members of an elastic run."""

import json
import os
import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")  # the package works without it

DASGD = os.environ["DASGD"]
HERE = os.path.dirname(os.path.abspath(__file__))

BEGIN = """
import hashlib, json, os, signal, sys, time
sys.path.insert(0, {tests!r})
import torch
from torch.utils.data import DataLoader, TensorDataset
import dasgd, dasgd.torch
from loops import data, loop, network
place = {place!r}
torch.set_num_threads(1)
def report(name, *found): print("REPORT " + json.dumps([name, *found]), flush=True)
def digest(model): return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()
rows = TensorDataset(*data(rows=512))
def step(model, peer, x, y):
    torch.nn.functional.cross_entropy(model(x), y).backward()
    return peer.step()
"""


def reports(tmp_path, program, *how, count=2, status=0):
    path = tmp_path / "train.py"
    path.write_text(BEGIN.format(tests=HERE, place=str(tmp_path)) + program)
    command = [DASGD, "launch", "-n", str(count), *how, "--", sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    found = {}
    for line in re.findall(r"REPORT (\[.*\])", done.stdout):
        name, *values = json.loads(line)
        found.setdefault(name, []).append(values)
    found["stderr"] = done.stderr
    return found


RANKS = """
def made(**settings):
    model = network()
    return model, dasgd.torch.Peer(model, **{"lr": 0.05, "rank_timeout": "60s", **settings})

model, peer = made()
rank = peer.rank
report("first", peer.is_first == (rank == 0), peer.seed)
report("shuffled", next(iter(DataLoader(rows, batch_size=8, shuffle=True)))[0].sum().item())
report("gathered", peer.gather({"rank": rank}), peer.gather(rank + 10))
for _ in range(3): step(model, peer, *rows[:8])
if rank == 0: report("one has ended", peer.gather("here"))
peer.finish()
report("at the end", peer.gather(rank))

model = network()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
peer = dasgd.torch.Peer(model, optimizer=optimizer, rank_timeout="60s")
loader = peer.loader(rows, batch_size=16, epochs=3, by_pass=True)
schedule = peer.scheduler(torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=3 * len(loader)))
own = 0
for epoch in range(3):
    for x, y in loader:
        own += 1
        step(model, peer, x, y)
        if rank == 1: time.sleep(0.01)
        assert schedule.last_epoch == min(peer.gradients, 96)
peer.save(place + "/peer.pt")
summary = peer.finish()
report("loader", own, summary["gradients"], peer.progress, digest(model), summary["stop_reason"])

model = network(5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
peer = dasgd.torch.Peer(model, optimizer=optimizer, resume=place + "/peer.pt", total_gradients=150, rank_timeout="60s")
begin = peer.gradients
while step(model, peer, *rows[:16]): pass
report("resumed", begin, peer.progress, peer.finish()["gradients"], digest(model))

model, peer = made(out=place + "/run", trace=True, watch=0)
if rank == 1: peer.log(accuracy=0.5)
for k in range(50):
    if not step(model, peer, *rows[:8]): break
    if rank == 1 and k == 20: peer.stop()
summary = peer.finish()
report("stopped", summary["stop_reason"], summary["gradients"], digest(model), peer.run_dir)

try: made(out="/dev/null/run")
except dasgd.InputError as error: report("no directory", str(error))
"""


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    place = tmp_path_factory.mktemp("ranks")
    return place, reports(place, RANKS)


def both(ranks, name):
    found = ranks[1].get(name, [])
    assert len(found) == 2, ranks[1]["stderr"]
    return found


def test_no_two_ranks_draw_the_same(ranks):
    seeds, sums = both(ranks, "first"), both(ranks, "shuffled")
    assert all(first for first, _ in seeds) and len({seed for _, seed in seeds}) == 2
    assert len({total for [total] in sums}) == 2


def test_values_are_gathered(ranks):
    assert both(ranks, "gathered") == [[[{"rank": 0}, {"rank": 1}], [10, 11]]] * 2
    assert ranks[1]["one has ended"] == [[["here", None]]], "nobody waits for a loop that is over"
    assert both(ranks, "at the end") == [[[0, 1]]] * 2


def test_ranks_share_the_passes_and_the_schedule(ranks):
    (own_a, gradients, progress, digest, reason), (own_b, *others) = both(ranks, "loader")
    assert others == [gradients, progress, digest, reason]
    assert own_a + own_b == gradients and 96 <= gradients < 106 and progress == 1


def test_ranks_go_on_from_a_checkpoint(ranks):
    (begin, *end), (other, *same) = both(ranks, "resumed")
    progress, gradients, _ = end
    assert same == end and progress == 1 and 150 <= gradients < 160  # a rank learns late on a busy machine
    assert 90 <= min(begin, other) < 106  # what was under way is not in it


def test_one_rank_stops_all_and_the_first_keeps_a_directory(ranks):
    place = ranks[0]
    found = both(ranks, "stopped")
    assert {(reason, digest) for reason, _, digest, _ in found} == {("asked", found[0][2])}
    assert sorted(str(run) for *_, run in found) == sorted([str(place / "run"), "None"])
    summary = json.loads((place / "run" / "summary.json").read_text())
    assert summary["gradients"] == found[0][1] and summary["workers"] == 2
    checked = subprocess.run([DASGD, "check", "--json", str(place / "run")], capture_output=True, text=True)
    assert json.loads(checked.stdout)["ok"], checked.stdout
    assert os.listdir(place / "run" / "worker-1" / "tensorboard")


def test_a_directory_that_cannot_be_is_reported_to_all(ranks):
    assert len({text for [text] in both(ranks, "no directory")}) == 1


MEMBERS = """
name = os.path.basename(os.environ["DASGD_MEMBER_DIR"])
model = network()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
peer = dasgd.torch.Peer(model, optimizer=optimizer, resume=place + "/peer.pt", out=place + "/runs", trace=True)
begin = peer.gradients
loader = peer.loader(rows, batch_size=16, epochs=EPOCHS)
schedule = peer.scheduler(torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10**6))
try: peer.gather("x" * 100000)
except dasgd.InputError as error: report("too much", str(error))
while peer.goes_on and peer.progress < 1:
    for x, y in loader:
        step(model, peer, x, y)
        assert schedule.last_epoch == peer.gradients
        names = peer.gather(name)
        assert name in names and set(names) <= {"worker-0", "worker-1", "worker-1.1"}, names
        if peer.gradients % 8 == 0: peer.save(place + "/peer.pt")
        if KILLS and name == "worker-1" and os.path.exists(place + "/peer.pt"): os.kill(os.getpid(), signal.SIGKILL)
        if KILLS and names == ["worker-0", "worker-1.1"]: peer.stop()  # the eldest first
peer.save(place + "/peer.pt")
summary = peer.finish()
report("last", name in peer.gather(None))
report("end", name, peer.is_first, peer.seed, begin, summary["gradients"], peer.progress, digest(model))
"""


def test_members_share_passes_schedules_and_checkpoints_whoever_dies(tmp_path):
    first = reports(tmp_path, MEMBERS.replace("EPOCHS", "10**6").replace("KILLS", "True"), "--elastic")
    ends = first["end"]
    assert sorted(end[0] for end in ends) == ["worker-0", "worker-1.1"], first["stderr"]
    assert sum(end[1] for end in ends) == 1 and len({end[2] for end in ends}) == 2
    assert len({end[6] for end in ends}) == 1, "the same bytes"
    gradients = ends[0][4]
    assert "64 KiB" in first["too much"][0][0] and first["last"] == [[True]] * 2
    for name in ("worker-0", "worker-1.1"):
        assert (tmp_path / "runs" / name / "summary.json").exists() and (tmp_path / "runs" / name / "trace.jsonl").exists()
    whole = gradients + 64
    again = MEMBERS.replace("EPOCHS", f"{whole} * 16 / 512").replace("KILLS", "False").replace('"/runs"', '"/more"')
    second = reports(tmp_path, again, "--elastic")
    begin, totals = min(end[3] for end in second["end"]), {end[4] for end in second["end"]}
    assert gradients - 20 <= begin <= gradients and len(totals) == 1 and whole <= totals.pop() <= whole + 20
    assert len({end[6] for end in second["end"]}) == 1 and all(end[5] == 1 for end in second["end"])


AHEAD = """
model = network()
peer = dasgd.torch.Peer(model, lr=0.05, rank_timeout="60s", look_ahead=1, gradients=60)
moved = 0
while peer.goes_on:
    step(model, peer, *rows[:8])
    if peer.goes_on:
        own = digest(model)
        with peer.model_of_all():
            moved += own != digest(model)
        assert own == digest(model)
summary = peer.finish()
report("ahead", moved > 0, digest(model), summary and [summary["look_ahead"], summary["replicas_identical"]])
"""


def test_a_loop_computes_ahead_and_ends_with_the_model_of_all(tmp_path):
    found = reports(tmp_path, AHEAD)["ahead"]
    assert [moved for moved, _, _ in found] == [True, True]
    assert found[0][1] == found[1][1]
    assert [1.0, 1.0] in [summary[0] for _, _, summary in found if summary]
    assert all(summary[1] for _, _, summary in found if summary)
