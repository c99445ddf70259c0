"""dasgd.torch.Peer: loops of PyTorch."""

import gc
import json
import os
import subprocess
import sys
import textwrap

import pytest

torch = pytest.importorskip("torch")  # the package works without it

import dasgd
import dasgd.torch


def data(seed=1, rows=512):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, 8, generator=g)
    y = (x.sum(1) > 0).long()
    return x, y


def network(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))


def batches(count, size=32):
    x, y = data()
    for k in range(count):
        at = (k * size) % len(x)
        yield x[at : at + size], y[at : at + size]


def loop(model, step, count=100):
    losses = []
    for x, y in batches(count):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        step(loss)
        losses.append(float(loss.detach()))
    return losses


def plain(make_optimizer, count=100):
    model = network()
    optimizer = make_optimizer(model.parameters())

    def step(loss):
        optimizer.step()
        optimizer.zero_grad()

    return loop(model, step, count), model


def test_alone_it_is_plain_sgd():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    assert (peer.rank, peer.size) == (0, 1)
    losses = loop(model, peer.step)
    summary = peer.finish()
    expected, same = plain(lambda p: torch.optim.SGD(p, lr=0.1))
    assert losses == pytest.approx(expected, abs=1e-5)
    assert summary["gradients"] == 100 and summary["lost"] == 0 and summary["replicas_identical"] is True
    for a, b in zip(model.parameters(), same.parameters()):
        assert torch.allclose(a, b, atol=1e-5)


def test_own_momentum_is_that_of_torch():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.05, rule="momentum", momentum=0.9)
    losses = loop(model, peer.step)
    peer.finish()
    expected, _ = plain(lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9))
    assert losses == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW, torch.optim.RMSprop])
def test_any_optimizer_is_a_rule_at_the_origin(kind):
    model = network()
    optimizer = kind(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 50, 0.5)
    peer = dasgd.torch.Peer(model, optimizer=optimizer)

    def step(loss):
        peer.step(loss)
        schedule.step()

    losses = loop(model, step)
    peer.finish()
    expected_model = network()
    same = kind(expected_model.parameters(), lr=0.01)
    same_schedule = torch.optim.lr_scheduler.StepLR(same, 50, 0.5)

    def plain_step(loss):
        same.step()
        same.zero_grad()
        same_schedule.step()

    assert losses == pytest.approx(loop(expected_model, plain_step), abs=1e-3)


def test_gradients_add_up_until_a_step():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    seen = []
    for k, (x, y) in enumerate(batches(8)):
        torch.nn.functional.cross_entropy(model(x), y).backward()
        if k % 4 == 3:
            seen.append(peer.step())
    assert seen == [True, True]
    assert peer.finish()["gradients"] == 2


def test_gradients_may_be_set_to_none():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)

    def step(loss):
        peer.step(loss)
        model.zero_grad(set_to_none=True)

    losses = loop(model, step)
    expected, _ = plain(lambda p: torch.optim.SGD(p, lr=0.1))
    assert losses == pytest.approx(expected, abs=1e-5)
    peer.finish()


def test_frozen_tied_and_non_contiguous_parameters():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(8, 8)
            self.b = torch.nn.Linear(8, 8)
            self.b.weight = self.a.weight  # tied
            self.c = torch.nn.Linear(8, 2)
            self.c.weight.requires_grad_(False)
            self.a.weight.data = self.a.weight.data.t()

        def forward(self, x):
            return self.c(self.b(torch.relu(self.a(x))))

    torch.manual_seed(0)
    net = Net()
    frozen = net.c.weight.clone()
    before = net.a.weight.clone()
    peer = dasgd.torch.Peer(net, lr=0.1)
    loop(net, peer.step, 20)
    peer.finish()
    assert torch.equal(net.c.weight, frozen)
    assert not torch.equal(net.a.weight, before)
    assert net.a.weight is net.b.weight


def test_the_model_outlives_its_peer():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    loop(model, peer.step, 10)
    peer.finish()
    values = [p.clone() for p in model.parameters()]
    del peer
    gc.collect()
    assert all(torch.equal(a, b) for a, b in zip(values, model.parameters()))
    torch.save(model.state_dict(), os.devnull)


def test_two_peers_in_one_process():
    a, b = network(1), network(2)
    with dasgd.torch.Peer(a, lr=0.1) as first, dasgd.torch.Peer(b, lr=0.1) as second:
        loop(a, first.step, 5)
        loop(b, second.step, 7)
    assert first.finish()["gradients"] == 5
    assert second.finish()["gradients"] == 7


def test_an_exception_in_the_loop_leaves_cleanly():
    model = network()
    with pytest.raises(ZeroDivisionError):
        with dasgd.torch.Peer(model, lr=0.1) as peer:
            loop(model, peer.step, 3)
            1 / 0
    with pytest.raises(dasgd.InputError, match="has finished"):
        peer.step()


def test_mistakes():
    with pytest.raises(dasgd.InputError, match="lr"):
        dasgd.torch.Peer(network())
    with pytest.raises(dasgd.InputError, match="no trainable"):
        dasgd.torch.Peer(torch.nn.ReLU(), lr=0.1)
    with pytest.raises(dasgd.InputError, match="float32"):
        dasgd.torch.Peer(network().double(), lr=0.1)
    other = torch.optim.SGD(network().parameters(), lr=0.1)
    with pytest.raises(dasgd.InputError, match="trainable parameters"):
        dasgd.torch.Peer(network(), optimizer=other)
    with pytest.raises(dasgd.InputError, match="unknown keyword"):
        dasgd.torch.Peer(network(), lr=0.1, learnin=2)
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    with pytest.raises(dasgd.DivergenceError, match="loss is nan"):
        peer.step(float("nan"))
    peer.close()


def test_a_fork_of_the_process_does_not_hang():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    child = os.fork()
    if child == 0:
        try:
            peer.step()
        except dasgd.InputError:
            del peer
            gc.collect()
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    loop(model, peer.step, 3)
    assert peer.finish()["gradients"] == 3


RANKS = """
import hashlib, json, sys, time, torch
sys.path.insert(0, {tests!r})
import dasgd, dasgd.torch
from test_torch import batches
{before}
torch.manual_seed({seed})
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
peer = dasgd.torch.Peer(model, lr=0.05, batch=32)
for k, (x, y) in enumerate(batches({steps})):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    {during}
    peer.step(loss)
summary = peer.finish()
digest = hashlib.sha256(b"".join(t.detach().numpy().tobytes() for t in model.state_dict().values() if t.is_floating_point())).hexdigest()
print(json.dumps([peer.rank, peer.size, digest, summary["gradients"], summary["lost"], summary["gradients_by_worker"]]), flush=True)
"""


def mpirun(tmp_path, ranks, **parts):
    parts = {"tests": os.path.dirname(__file__), "seed": 1, "steps": "40", "before": "", "during": "", **parts}
    program = tmp_path / "train.py"
    program.write_text(textwrap.dedent(RANKS).format(**parts))
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        ["mpirun", "--oversubscribe", "-n", str(ranks), sys.executable, str(program)],
        env=env, capture_output=True, text=True, timeout=120,
    )


def told(done):
    return sorted(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


def test_ranks_end_with_the_same_bytes_and_lose_nothing(tmp_path):
    done = mpirun(tmp_path, 3)
    assert done.returncode == 0, done.stderr
    ranks = told(done)
    assert [r[0] for r in ranks] == [0, 1, 2] and {r[1] for r in ranks} == {3}
    assert len({r[2] for r in ranks}) == 1, "parameters and averaged buffers are the same everywhere"
    assert all(r[3] == 120 and r[4] == 0 and r[5] == [40, 40, 40] for r in ranks)


def test_a_rank_whose_data_end_early_holds_nobody_up(tmp_path):
    done = mpirun(tmp_path, 2, before="import os; rank = int(os.environ['OMPI_COMM_WORLD_RANK'])", steps="10 + 40 * rank")
    assert done.returncode == 0, done.stderr
    assert [r[5] for r in told(done)] == [[10, 50], [10, 50]]


def test_ranks_begin_with_the_model_of_the_first(tmp_path):
    done = mpirun(tmp_path, 2, seed="int(__import__('os').environ['OMPI_COMM_WORLD_RANK'])", steps="5")
    assert done.returncode == 0, done.stderr
    assert len({r[2] for r in told(done)}) == 1


def test_an_exception_on_one_rank_ends_all(tmp_path):
    done = mpirun(tmp_path, 2, steps="1000000", during="if peer.rank == 1 and k == 5: raise RuntimeError('rank 1 is ill')\n    if not peer._goes_on: break")
    assert done.returncode != 0
    assert "rank 1 is ill" in done.stderr


def test_a_state_goes_on_where_it_was(tmp_path):
    def fresh():
        model = network()
        return model, torch.optim.AdamW(model.parameters(), lr=0.01)

    model, optimizer = fresh()
    peer = dasgd.torch.Peer(model, optimizer=optimizer)
    whole = loop(model, peer.step, 40)
    peer.finish()

    model, optimizer = fresh()
    peer = dasgd.torch.Peer(model, optimizer=optimizer)
    first = loop(model, peer.step, 16)  # 16 batches are all of the data
    torch.save(peer.state_dict(), tmp_path / "peer.pt")
    peer.close()

    model, optimizer = fresh()
    peer = dasgd.torch.Peer(model, optimizer=optimizer)
    peer.load_state_dict(torch.load(tmp_path / "peer.pt"))
    second = loop(model, peer.step, 24)
    assert peer.finish()["gradients"] == 24
    assert first + second == pytest.approx(whole, abs=1e-5)


def test_states_that_do_not_fit(tmp_path):
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    with pytest.raises(dasgd.InputError, match="optimizer"):
        peer.load_state_dict({"model": model.state_dict(), "optimizer": {}})
    state = peer.state_dict()
    loop(model, peer.step, 1)
    with pytest.raises(dasgd.InputError, match="before the first step"):
        peer.load_state_dict(state)
    peer.close()


def test_groups_of_parameters_have_their_own_step_sizes():
    def groups(model):
        return [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.2, "weight_decay": 0.1}]

    model = network()
    peer = dasgd.torch.Peer(model, optimizer=torch.optim.SGD(groups(model), lr=0.01, momentum=0.9))
    losses = loop(model, peer.step)
    peer.finish()
    same = network()
    optimizer = torch.optim.SGD(groups(same), lr=0.01, momentum=0.9)

    def step(loss):
        optimizer.step()
        optimizer.zero_grad()

    assert losses == pytest.approx(loop(same, step), abs=1e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda o: torch.optim.lr_scheduler.OneCycleLR(o, 0.1, total_steps=100),
        lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda k: 1 / (1 + k)),
    ],
)
def test_schedules_of_torch(make):
    def run(model, optimizer, update):
        schedule = make(optimizer)

        def step(loss):
            update()
            schedule.step()

        return loop(model, step)

    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    peer = dasgd.torch.Peer(model, optimizer=optimizer)
    losses = run(model, optimizer, peer.step)
    peer.finish()
    same = network()
    plain_optimizer = torch.optim.SGD(same.parameters(), lr=0.1)

    def update():
        plain_optimizer.step()
        plain_optimizer.zero_grad()

    assert losses == pytest.approx(run(same, plain_optimizer, update), abs=1e-4)


def test_without_sync_gradients_add_up_as_without_a_step():
    def run(pauses):
        model = network()
        peer = dasgd.torch.Peer(model, lr=0.1)
        for k, (x, y) in enumerate(batches(12)):
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            if k % 4 == 3:
                peer.step(loss)
            elif pauses:
                with peer.no_sync():
                    assert peer.step(loss)
        assert peer.finish()["gradients"] == 3
        return [p.detach().clone() for p in model.parameters()]

    assert all(torch.equal(a, b) for a, b in zip(run(True), run(False)))


def test_autocast_to_bfloat16():
    def run(step, model):
        losses = []
        for x, y in batches(100):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            step(loss)
            losses.append(float(loss.detach()))
        return losses

    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    losses = run(peer.step, model)
    peer.finish()
    assert all(p.dtype == torch.float32 for p in model.parameters())
    same = network()
    optimizer = torch.optim.SGD(same.parameters(), lr=0.1)

    def step(loss):
        optimizer.step()
        optimizer.zero_grad()

    assert losses == pytest.approx(run(step, same), abs=0.02)


@pytest.mark.parametrize("optimizer", [None, torch.optim.SGD])
def test_parameters_that_cannot_be_views_of_the_replica_are_copies_of_it(monkeypatch, optimizer):
    """What happens on a GPU, tried with the memory of the CPU."""
    expected, same = plain(lambda p: torch.optim.SGD(p, lr=0.1))
    monkeypatch.setattr(dasgd.torch, "_shares_memory", lambda device: False)
    model = network()
    rule = {"lr": 0.1} if optimizer is None else {"optimizer": optimizer(model.parameters(), lr=0.1)}
    peer = dasgd.torch.Peer(model, **rule)
    losses = loop(model, peer.step)
    assert model[0].weight.data_ptr() != peer._replica.data_ptr()
    assert peer.finish()["gradients"] == 100
    assert losses == pytest.approx(expected, abs=1e-5)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(model.parameters(), same.parameters()))


def test_a_notebook_that_runs_its_cell_again():
    """The old peer is neither finished nor closed when its name is bound again."""
    for _ in range(3):
        model = network()
        peer = dasgd.torch.Peer(model, lr=0.1)
        loop(model, peer.step, 5)
    assert peer.finish()["gradients"] == 5


def test_two_peers_take_turns_in_one_process():
    a, b = network(1), network(2)
    first, second = dasgd.torch.Peer(a, lr=0.1), dasgd.torch.Peer(b, lr=0.05, rule="momentum")
    for _ in range(5):
        loop(a, first.step, 1)
        loop(b, second.step, 1)
    alone = network(1)
    peer = dasgd.torch.Peer(alone, lr=0.1)
    for _ in range(5):
        loop(alone, peer.step, 1)
    for each in (first, second, peer):
        assert each.finish()["gradients"] == 5
    assert all(torch.equal(p, q) for p, q in zip(a.parameters(), alone.parameters()))


def test_ranks_go_on_from_a_state(tmp_path):
    torch.manual_seed(5)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.ReLU(), torch.nn.Linear(16, 2)
    )
    torch.save({"model": model.state_dict()}, tmp_path / "state.pt")
    load = f"if k == 0: peer.load_state_dict(torch.load({str(tmp_path / 'state.pt')!r}))"
    done = mpirun(tmp_path, 2, steps="10", during=load)
    assert done.returncode == 0, done.stderr
    ranks = told(done)
    assert len({r[2] for r in ranks}) == 1 and all(r[5] == [10, 10] for r in ranks)
