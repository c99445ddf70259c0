"""What a loop can ask of its peer: batches, progress, schedules, checkpoints, what others have."""

import os
import re

import pytest

torch = pytest.importorskip("torch")  # the package works without it

import dasgd
import dasgd.torch
from loops import data, loop, network, stepping

DASGD = os.environ["DASGD"]


def rows(count=100):
    return torch.utils.data.TensorDataset(*data(rows=count))


def train(peer, model, loader):
    for x, y in loader:
        torch.nn.functional.cross_entropy(model(x), y).backward()
        peer.step()


def made(**settings):
    model = network()
    return model, dasgd.torch.Peer(model, **{"lr": 0.1, **settings})


# Settings


@pytest.mark.parametrize(
    "setting, advice",
    [
        ({"epochs": 3}, "peer.loader"),
        ({"workers": 4}, "dasgd launch -n N"),
        ({"data": "fashion-mnist"}, "own model, data"),
        ({"slow": {1: 10}}, "as fast as its machine"),
        ({"name": "a"}, "dasgd launch decides"),
        ({"checkpoint_every": 10}, "peer.save"),
        ({"target_accuracy": 0.9}, "peer.stop"),
        ({"eval_every": "1s"}, "peer.log"),
        ({"sampling": "shards"}, "own model, data"),
        ({"quiet": True}, "program dasgd"),
        ({"elastic": {"listen": "127.0.0.1:0"}}, "dasgd launch decides"),
        ({"budget": {"epochs": 3}}, "peer.loader"),
        ({"config": "run.toml"}, "as keywords, not from a file"),
    ],
)
def test_a_setting_that_a_peer_does_not_follow_is_refused(setting, advice):
    with pytest.raises(dasgd.InputError, match=re.escape(advice)):
        made(**setting)


def test_mistakes_are_named():
    model = network()
    with pytest.raises(dasgd.InputError, match="LBFGS calls the model several times"):
        dasgd.torch.Peer(model, optimizer=torch.optim.LBFGS(model.parameters()))
    with pytest.raises(dasgd.InputError, match="choose Adam"):
        dasgd.torch.Peer(model, optimizer=torch.optim.SparseAdam(list(model.parameters())))
    with pytest.raises(dasgd.InputError, match="leave lr and rule out .*clip"):
        dasgd.torch.Peer(model, optimizer=torch.optim.SGD(model.parameters(), lr=0.1), clip=1.0)
    with pytest.raises(dasgd.InputError, match="no common budget"):
        made()[1].progress
    with pytest.raises(dasgd.InputError, match="leave shuffle out"):
        made()[1].loader(rows(), shuffle=True)
    with pytest.raises(dasgd.InputError, match="with a length"):
        made()[1].loader(iter([1, 2]))
    with pytest.raises(dasgd.InputError, match="data set is empty"):
        made()[1].loader([])
    with pytest.raises(dasgd.InputError, match="out=DIR"):
        made()[1].log(accuracy=0.5)
    model, peer = made()
    with peer.model_of_all(), pytest.raises(dasgd.InputError, match="no step inside model_of_all"):
        peer.step()


class Scaler:
    """As GradScaler steps."""

    def step(self, optimizer):
        optimizer.step()


@pytest.mark.parametrize("leftover", [lambda o: o.step(), lambda o: Scaler().step(o)])
@pytest.mark.parametrize("scheduler_first", [True, False, None])
def test_a_step_of_the_optimizer_that_was_left_in_the_loop_is_named(leftover, scheduler_first):
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    if scheduler_first:
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: 1.0)
    peer = dasgd.torch.Peer(model, optimizer=optimizer)
    if scheduler_first is False:
        torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: 1.0)
    loop(model, peer.step, 2)
    with pytest.raises(dasgd.InputError, match="remove optimizer.step"):
        leftover(optimizer)
    loop(model, peer.step, 2)
    peer.finish()
    leftover(optimizer)  # it is the loop's own again


def test_an_optimizer_whose_step_is_the_peers():
    model, other = network(), network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    peer = dasgd.torch.Peer(model, optimizer=optimizer, through_optimizer=True)
    losses = loop(model, stepping(optimizer), 20)
    assert peer.finish()["gradients"] == 20
    assert losses == pytest.approx(loop(other, stepping(torch.optim.AdamW(other.parameters(), lr=0.01)), 20), abs=1e-5)


def test_a_layer_that_is_unfrozen_later_is_named():
    model = network()
    model[0].requires_grad_(False)
    peer = dasgd.torch.Peer(model, lr=0.1)
    loop(model, peer.step, 2)
    model[0].requires_grad_(True)
    with pytest.raises(dasgd.InputError, match="0.weight is trainable now and was not"):
        loop(model, peer.step, 1)


def test_a_layer_that_is_frozen_for_a_while_stays_as_it_is():
    model = network()
    peer = dasgd.torch.Peer(model, optimizer=torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.5))
    model[0].requires_grad_(False)
    before = [p.clone() for p in model.parameters()]
    loop(model, peer.step, 3)
    assert torch.equal(model[0].weight, before[0]) and not torch.equal(model[2].weight, before[2])
    model[0].requires_grad_(True)
    loop(model, peer.step, 3)
    assert not torch.equal(model[0].weight, before[0])
    assert peer.finish()["gradients"] == 6


# Batches


def test_a_sampler_has_all_data_in_every_pass():
    _, peer = made()
    sampler = peer.sampler(rows(20))
    first, second = list(sampler), list(sampler)
    assert len(sampler) == 20 and sorted(first) == sorted(second) == list(range(20)) and first != second
    sampler.set_epoch(0)
    assert list(sampler) == first
    assert list(made()[1].sampler(rows(20))) == first, "it repeats"
    assert list(made(seed=2)[1].sampler(rows(20))) != first
    peer.stop()
    peer.step()
    assert list(sampler) == []


def test_passes_of_a_loader_are_those_of_all():
    model, peer = made()
    loader = peer.loader(rows(100), batch_size=32, epochs=3, by_pass=True)
    assert len(loader) == 4
    shares = []
    for _ in range(5):
        train(peer, model, loader)
        shares.append(peer.progress)
    assert shares == pytest.approx([128 / 300, 224 / 300, 1, 1, 1])
    summary = peer.finish()
    assert summary["gradients"] == 10 and summary["samples"] == 320
    assert peer.progress == 1 and peer.samples == 320 and peer.gradients == 10


def test_one_loop_over_a_loader_is_all_of_its_epochs():
    model, peer = made()
    loader = peer.loader(rows(100), batch_size=32, epochs=3)
    train(peer, model, loader)
    assert peer.progress == 1 and peer.gradients == 10
    assert list(loader) == []
    model, peer = made()
    loader = peer.loader(rows(100), batch_size=32)
    train(peer, model, loader)
    assert peer.gradients == 4


def test_a_loader_takes_the_place_of_another():
    model, peer = made()
    given = torch.utils.data.DataLoader(rows(64), batch_size=16, shuffle=True, collate_fn=lambda all: len(all))
    assert list(zip(peer.loader(given), range(3)))[0][0] == 16
    batched = torch.utils.data.DataLoader(rows(64), batch_sampler=torch.utils.data.BatchSampler(range(64), 8, False))
    with pytest.raises(dasgd.InputError, match="without batch_sampler"):
        peer.loader(batched)


def test_progress_counts_every_budget():
    model, peer = made(total_gradients=10)
    assert peer.progress == 0
    loop(model, peer.step, 4)
    assert peer.progress == pytest.approx(0.4)
    model, peer = made(gradients=8)
    loop(model, peer.step, 2)
    assert peer.progress == pytest.approx(0.25)
    _, peer = made(max_time="1000s")
    assert 0 < peer.progress < 1


# Schedules

SCHEDULES = {
    "OneCycleLR": lambda o: torch.optim.lr_scheduler.OneCycleLR(o, max_lr=0.1, total_steps=20),
    "cosine": lambda o: torch.optim.lr_scheduler.CosineAnnealingLR(o, 20),
    "warm-up": lambda o: torch.optim.lr_scheduler.LambdaLR(o, lambda k: min(1.0, (k + 1) / 10)),
    "steps": lambda o: torch.optim.lr_scheduler.StepLR(o, 5),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("called", [True, False])
@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES.keys())
def test_alone_a_schedule_is_what_it_was(schedule, called):
    def rates(shared):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = schedule(optimizer)
        found = []
        peer = dasgd.torch.Peer(model, optimizer=optimizer) if shared else None
        step = peer.step if peer else stepping(optimizer)
        if peer:
            assert peer.scheduler(scheduler) is scheduler
        for _ in range(18):
            loop(model, step, 1)
            if called or not shared:
                scheduler.step()
            found.append(optimizer.param_groups[0]["lr"])
        torch.save(scheduler.state_dict(), os.devnull)
        return found

    assert rates(True) == rates(False)


def test_a_schedule_of_epochs_follows_progress():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    peer = dasgd.torch.Peer(model, optimizer=optimizer, total_gradients=20)
    scheduler = peer.scheduler(torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5), total=4)
    loop(model, peer.step, 11)
    assert optimizer.param_groups[0]["lr"] == 0.25 and scheduler.last_epoch == 2


def test_schedulers_that_cannot_be_shared():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    peer = dasgd.torch.Peer(model, optimizer=optimizer)
    with pytest.raises(dasgd.InputError, match="follows a metric"):
        peer.scheduler(torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer))
    other = torch.optim.SGD(network().parameters(), lr=1.0)
    with pytest.raises(dasgd.InputError, match="of the optimizer that the peer was given"):
        peer.scheduler(torch.optim.lr_scheduler.StepLR(other, 1))


# The end, the model of all, checkpoints


def test_stop_ends_the_run_as_a_budget_does():
    model, peer = made()
    loop(model, peer.step, 3)
    peer.stop()
    assert not peer.step() and not peer.goes_on
    summary = peer.finish()
    assert summary["stop_reason"] == "asked" and summary["gradients"] == 4  # that step was under way


def test_the_model_of_all_is_shown_and_withdrawn():
    model, peer = made()
    loop(model, peer.step, 3)
    before = [p.clone() for p in model.parameters()]
    with peer.model_of_all() as shown:
        assert shown is model and all(torch.equal(a, b) for a, b in zip(before, model.parameters()))
        with peer.model_of_all():
            pass
    loop(model, peer.step, 3)
    assert peer.finish()["gradients"] == 6
    with peer.model_of_all():
        pass


def test_alone_everybody_is_the_first():
    _, peer = made()
    assert peer.is_first and peer.gather({"a": 1}) == [{"a": 1}]
    peer.finish()
    assert peer.is_first and peer.gather(2) == [2]


def checkpointed(path, steps, whole=40):
    model = network()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.02, total_steps=whole)
    peer = dasgd.torch.Peer(model, optimizer=optimizer, total_gradients=whole, batch=32, resume=path)
    peer.scheduler(scheduler)
    begin = peer.gradients
    losses = []
    for k, (x, y) in enumerate(torch.utils.data.TensorDataset(*data())[32 * (i % 16) : 32 * (i % 16) + 32] for i in range(begin, begin + steps)):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        losses.append(float(loss.detach()))
        if not peer.step(loss):
            break
    peer.save(path)
    return losses, peer


def test_a_checkpoint_goes_on_where_it_was(tmp_path, capsys):
    whole, _ = checkpointed(tmp_path / "whole.pt", 40)
    assert "does not exist yet: starting a new run" in capsys.readouterr().err
    path = tmp_path / "some" / "peer.pt"
    first, peer = checkpointed(path, 16)
    peer.close()
    second, peer = checkpointed(path, 100)
    assert first + second[:24] == pytest.approx(whole, abs=1e-5)
    assert peer.progress == 1
    summary = peer.finish()
    assert summary["gradients"] == 40 and summary["samples"] == 40 * 32 and summary["stop_reason"] == "budget"
    assert os.listdir(path.parent) == ["peer.pt"]


def numbered(count):
    x = torch.randn(count, 8)
    return torch.utils.data.TensorDataset(x, (x.sum(1) > 0).long(), torch.arange(count))


@pytest.mark.parametrize("processes", [0, 2])
def test_a_loader_goes_on_in_the_middle_of_its_pass(tmp_path, processes):
    rows, seen, at = numbered(500), [], []
    for steps in (7, 20, 100):  # 32 samples each; the second one ends in another pass
        model, peer = made(resume=tmp_path / "peer.pt")
        for x, y, numbers in peer.loader(rows, batch_size=32, epochs=2, num_workers=processes):
            if len(at) == steps:
                break  # a batch that no step has used
            seen += numbers.tolist()
            at.append(peer.samples)
            torch.nn.functional.cross_entropy(model(x), y).backward()
            peer.step()
        peer.save(tmp_path / "peer.pt")
        peer.close()
    assert at == list(range(0, 1000, 32))
    assert sorted(seen[:500]) == list(range(500)) and len(set(seen[500:1000])) == 500
    model, peer = made(resume=tmp_path / "peer.pt")
    other = torch.cat([numbers for _, (_, _, numbers) in zip(range(13), peer.loader(numbered(480), batch_size=32))]).tolist()
    assert len(set(other)) == len(other) == 13 * 32, "other data, another order from its beginning"
    peer.close()


def test_files_that_are_no_checkpoint(tmp_path):
    (tmp_path / "text.pt").write_text("this is not a network")
    with pytest.raises(dasgd.InputError, match="not a checkpoint that torch can read"):
        made(resume=tmp_path / "text.pt")
    torch.save({"model": network().state_dict()}, tmp_path / "model.pt")
    with pytest.raises(dasgd.InputError, match="peer.save writes one"):
        made(resume=tmp_path / "model.pt")
    _, peer = made()
    peer.save(tmp_path / "peer.pt")
    model = torch.nn.Linear(2, 2)
    with pytest.raises(dasgd.InputError, match="of another model"):
        dasgd.torch.Peer(model, lr=0.1, resume=tmp_path / "peer.pt")


# Warnings


def test_a_scheduler_that_counts_the_steps_of_one_worker_is_reported():
    import warnings

    from dasgd._optimizer import warn_of_schedulers

    optimizer = torch.optim.SGD(network().parameters(), lr=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_schedulers(optimizer)
        follows = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1)  # perhaps peer.progress
        warn_of_schedulers(optimizer)
    own = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(RuntimeWarning, match=r"StepLR counts the steps of this worker alone; use peer.scheduler\(StepLR"):
        warn_of_schedulers(optimizer)
    del follows, own
