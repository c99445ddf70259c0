"""The life of a dasgd.torch.Peer: how it begins, how it ends, and what outlives it."""

import gc
import os
import warnings

import pytest

torch = pytest.importorskip("torch")  # the package works without it

import dasgd
import dasgd.torch
from loops import data, loop, network


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
    with pytest.raises(dasgd.InputError, match="the model is a NoneType; give a torch.nn.Module"):
        dasgd.torch.Peer(None, lr=0.1)
    with pytest.raises(dasgd.InputError, match="weight is on the device meta"):
        dasgd.torch.Peer(torch.nn.Linear(2, 2, device="meta"), lr=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's, about lazy modules
        lazy = torch.nn.LazyLinear(2)
    with pytest.raises(dasgd.InputError, match="weight has no shape yet"):
        dasgd.torch.Peer(lazy, lr=0.1)
    with pytest.raises(dasgd.InputError, match="float32"):
        dasgd.torch.Peer(network().double(), lr=0.1)
    other = torch.optim.SGD(network().parameters(), lr=0.1)
    with pytest.raises(dasgd.InputError, match="trainable parameters"):
        dasgd.torch.Peer(network(), optimizer=other)
    with pytest.raises(dasgd.InputError, match="unknown keyword"):
        dasgd.torch.Peer(network(), lr=0.1, learnin=2)
    with pytest.raises(dasgd.InputError, match='did you mean "batch"'):
        dasgd.torch.Peer(network(), lr=0.1, batch_size=32)
    with pytest.raises(dasgd.InputError, match='did you mean "momentum"'):
        dasgd.torch.Peer(network(), lr=0.1, momentun=0.9)
    with pytest.raises(dasgd.InputError, match="choose one of lr, .* rule, momentum") as error:
        dasgd.torch.Peer(network(), lr=0.1, nesterov=True)
    names = str(error.value).split("choose one of ")[1].split(", ")
    assert len(names) == len(set(names)) and "data" not in names
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    with pytest.raises(dasgd.DivergenceError, match="loss is nan"):
        peer.step(float("nan"))
    peer.close()


def test_a_divergence_is_raised_by_the_step_that_finds_it():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    loop(model, peer.step, 2)
    model[0].weight.grad.fill_(float("nan"))
    with pytest.raises(dasgd.DivergenceError, match="worker 0, .* is nan: the gradient is not finite"):
        peer.step()
    assert not peer.step()
    with pytest.raises(dasgd.DivergenceError):
        peer.finish()


def test_a_divergence_names_the_lr_of_the_optimizer():
    model = network()
    peer = dasgd.torch.Peer(model, optimizer=torch.optim.SGD(model.parameters(), lr=4e30))
    with pytest.raises(dasgd.DivergenceError, match=r"with lr 4e\+30 in the optimizer; try a smaller one there$"):
        loop(model, peer.step, 10)


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


def test_loaders_fork_while_a_peer_lives():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data()), batch_size=64, num_workers=2)
    for _ in range(2):
        for x, y in loader:
            torch.nn.functional.cross_entropy(model(x), y).backward()
            peer.step()
    assert peer.finish()["gradients"] == 16


def test_a_notebook_that_runs_its_cell_again():
    """The old peer is neither finished nor closed when its name is bound again."""
    for _ in range(3):
        model = network()
        peer = dasgd.torch.Peer(model, lr=0.1)
        loop(model, peer.step, 5)
    assert peer.finish()["gradients"] == 5


CHANGES = {
    "loaded": lambda model: model.load_state_dict(network(7).state_dict()),
    "stepped": lambda model: torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1).step(),
    "initialised": lambda model: torch.nn.init.ones_(model[2].bias),
    "moved": lambda model: torch.nn.utils.vector_to_parameters(torch.ones(178), model.parameters()),
}


@pytest.mark.parametrize("optimizer", [False, True])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("steps", [0, 3])
def test_weights_that_another_has_written_are_refused(steps, change, optimizer):
    model = network()
    rule = {"optimizer": torch.optim.AdamW(model.parameters(), lr=0.01)} if optimizer else {"lr": 0.1}
    peer = dasgd.torch.Peer(model, **rule)
    loop(model, peer.step, steps)
    change(model)
    with pytest.raises(dasgd.InputError, match="changed outside of step: load weights before the peer is made"):
        loop(model, peer.step, 1)
    peer.close()


def test_weights_that_another_has_written_on_a_device_are_refused(monkeypatch):
    monkeypatch.setattr("dasgd._worker._shares_memory", lambda device: False)
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1)
    loop(model, peer.step, 3)
    own = {name: value.clone() for name, value in model.state_dict().items()}
    CHANGES["loaded"](model)
    model.load_state_dict(own)
    loop(model, peer.step, 1)
    CHANGES["loaded"](model)
    with pytest.raises(dasgd.InputError, match="changed outside of step"):
        loop(model, peer.step, 1)
    peer.close()


@pytest.mark.parametrize("swap", ["written", "replaced"])
def test_weights_that_are_swapped_away_and_back_are_fine(swap):
    def evaluate(model):
        average = [torch.zeros_like(p) for p in model.parameters()]
        for p, other in zip(model.parameters(), average):
            if swap == "written":
                own = p.detach().clone()
                with torch.no_grad():
                    p.copy_(other).copy_(own)
            else:
                own = p.data
                p.data = other
                p.data = own

    model, same = network(), network()
    with dasgd.torch.Peer(model, lr=0.1) as peer, dasgd.torch.Peer(same, lr=0.1) as other:
        for _ in range(5):
            loop(model, peer.step, 1)
            evaluate(model)
            with peer.no_sync():
                peer.step()
        for _ in range(5):
            loop(same, other.step, 1)
    assert peer.finish()["gradients"] == 5
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), same.parameters()))


def test_a_peer_that_is_over_leaves_the_model_to_others():
    model = network()
    peer = dasgd.torch.Peer(model, lr=0.1, gradients=3)
    loop(model, peer.step, 5)
    CHANGES["loaded"](model)
    assert not peer.step()
    assert peer.finish()["gradients"] == 3
    CHANGES["loaded"](model)
    assert torch.equal(model[0].weight, network(7)[0].weight)


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
