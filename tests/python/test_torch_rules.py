"""What a step of dasgd.torch.Peer does: that of PyTorch."""

import pytest

torch = pytest.importorskip("torch")  # the package works without it

import dasgd.torch
from loops import batches, loop, network, plain, stepping


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

    update = stepping(same)

    def plain_step(loss):
        update()
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


def test_groups_of_parameters_have_their_own_step_sizes():
    def groups(model):
        return [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.2, "weight_decay": 0.1}]

    model = network()
    peer = dasgd.torch.Peer(model, optimizer=torch.optim.SGD(groups(model), lr=0.01, momentum=0.9))
    losses = loop(model, peer.step)
    peer.finish()
    same = network()
    optimizer = torch.optim.SGD(groups(same), lr=0.01, momentum=0.9)
    assert losses == pytest.approx(loop(same, stepping(optimizer)), abs=1e-4)


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
    optimizer = torch.optim.SGD(same.parameters(), lr=0.1)
    assert losses == pytest.approx(run(same, optimizer, stepping(optimizer)), abs=1e-4)


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
    assert losses == pytest.approx(run(stepping(optimizer), same), abs=0.02)


@pytest.mark.parametrize("optimizer", [None, torch.optim.SGD])
def test_parameters_that_cannot_be_views_of_the_replica_are_copies_of_it(monkeypatch, optimizer):
    """What happens on a GPU, tried with the memory of the CPU."""
    expected, same = plain(lambda p: torch.optim.SGD(p, lr=0.1))
    monkeypatch.setattr("dasgd._worker._shares_memory", lambda device: False)
    model = network()
    rule = {"lr": 0.1} if optimizer is None else {"optimizer": optimizer(model.parameters(), lr=0.1)}
    peer = dasgd.torch.Peer(model, **rule)
    losses = loop(model, peer.step)
    assert model[0].weight.data_ptr() != peer._replica.data_ptr()
    assert peer.finish()["gradients"] == 100
    assert losses == pytest.approx(expected, abs=1e-5)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(model.parameters(), same.parameters()))
