"""Adapters for the tools of others, with small stand-ins of those; real_adapters.py takes the real ones."""

import os
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch")  # the package works without it

import dasgd
import dasgd.accelerate
import dasgd.torch
from loops import data, loop, network

HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, path=""):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH")]))}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("name", ["huggingface", "lightning", "accelerate", "notebook"])
def test_an_adapter_trains_alone_and_with_others(name):
    done = run(sys.executable, os.path.join(HERE, "real_adapters.py"), name, path=os.path.join(HERE, "stand_ins"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("passed") == (1 if name == "notebook" else 3)


def test_adapters_import_nothing_that_is_not_installed():
    for name in ("accelerate", "huggingface", "lightning"):
        done = run(sys.executable, "-c", f"import sys; sys.modules.update(transformers=None, lightning=None, pytorch_lightning=None); import dasgd.{name}")
        assert done.returncode == 0, done.stderr
    done = run(sys.executable, "-c", "import sys; sys.modules.update(lightning=None, pytorch_lightning=None); import dasgd.lightning; dasgd.lightning.Strategy()")
    assert "neither is installed" in done.stderr
    done = run(sys.executable, "-c", "import sys; sys.modules.update(transformers=None); import dasgd.huggingface; dasgd.huggingface.Callback()")
    assert "InputError: Callback is one of transformers.Trainer, and transformers is not installed" in done.stderr


def prepared(**options):
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data(rows=128)), batch_size=32, shuffle=True)
    accelerator = dasgd.accelerate.Accelerator(**options)
    return accelerator, accelerator.prepare(model, optimizer, loader)


def test_gradients_accumulate():
    accelerator, (model, optimizer, loader) = prepared(gradient_accumulation_steps=2, epochs=2)
    for _ in range(2):
        for x, y in loader:
            with accelerator.accumulate(model):
                accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
                optimizer.step()
                optimizer.zero_grad()
    summary = accelerator.end_training()
    assert summary["gradients"] == 4 and summary["samples"] == 256


def test_prepare_as_a_function():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data(rows=128)), batch_size=32, shuffle=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    model, optimizer, loader, scheduler = dasgd.accelerate.prepare(model, optimizer, loader, scheduler, epochs=1)
    for x, y in loader:
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    assert optimizer.peer.finish()["gradients"] == 4 and scheduler.last_epoch == 4


def test_prepare_returns_as_many_as_it_was_given():
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*data(rows=128)), batch_size=32, shuffle=True)
    same, _, _ = dasgd.accelerate.prepare(model, optimizer, loader, epochs=1)
    assert same is model
    optimizer.peer.close()


def test_what_cannot_be_prepared():
    accelerator = dasgd.accelerate.Accelerator()
    with pytest.raises(dasgd.InputError, match="first"):
        accelerator.peer
    with pytest.raises(dasgd.InputError, match="one model and its optimizer"):
        accelerator.prepare(network())
    accelerator, _ = prepared()
    with pytest.raises(dasgd.InputError, match="there can be one"):
        accelerator.prepare(network())
    held_out = torch.utils.data.DataLoader([1, 2, 3])
    assert accelerator.prepare(held_out) is held_out


def test_a_notebook_has_what_its_workers_return():
    assert dasgd.notebook_launch(lambda a, b: a + b, 3, 1, b=2) == [3, 3, 3]
    with pytest.raises(dasgd.InputError, match="at least one"):
        dasgd.notebook_launch(print, 0)


def test_a_failure_of_a_worker_is_reported_in_the_notebook():
    def fail():
        raise ValueError("a mistake")

    with pytest.raises(RuntimeError, match="(?s)worker [01]: Traceback.*ValueError: a mistake"):
        dasgd.notebook_launch(fail, 2)

    def fails_before_the_others_have_a_model():
        if os.environ["DASGD_BEGINS"]:
            raise ValueError("a mistake")
        dasgd.torch.Peer(network(), lr=0.1)

    with pytest.raises(RuntimeError, match="(?s)worker 0: Traceback.*ValueError: a mistake"):
        dasgd.notebook_launch(fails_before_the_others_have_a_model, 2)
    with pytest.raises(RuntimeError, match="it ended with status 5"):
        dasgd.notebook_launch(lambda: os._exit(5), 1)


def test_a_worker_that_comes_after_the_end_is_no_failure(tmp_path, capfd):
    over = tmp_path / "over"

    def train():
        if not os.environ["DASGD_BEGINS"]:
            while not over.exists():
                time.sleep(0.01)
        model = network()
        peer = dasgd.torch.Peer(model, lr=0.1, total_gradients=3)
        loop(model, peer.step, 5)
        gradients = peer.finish()["gradients"]
        over.touch()
        return gradients

    assert dasgd.notebook_launch(train, 2) == [3, None]
    assert "dasgd: worker 1 took no part, and the others have finished: " in capfd.readouterr().err


def test_settings_of_mpi_stay_where_no_launcher_is(monkeypatch):
    from dasgd._launcher import hide_launcher

    for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMPI_MCA_plm_rsh_agent", "mine")
    hide_launcher()
    assert os.environ["OMPI_MCA_plm_rsh_agent"] == "mine"
